/* Characters of a page that pdfium has read: its functions are called by address, once for every character. */

#include <stdint.h>

struct rectangle {
    float left, top, right, bottom;
};

struct functions { /* FPDFText_GetUnicode, _GetLooseCharBox, _IsGenerated, _IsHyphen */
    unsigned int (*unicode)(void *, int);
    int (*box)(void *, int, struct rectangle *);
    int (*generated)(void *, int);
    int (*hyphen)(void *, int);
};

/* Fills the columns of `count` characters; a character without a box gets one without extent. */
int64_t pdf_characters(void *page, int64_t count, const struct functions *of, uint32_t *code, struct rectangle *box,
                       uint8_t *flags)
{
    for (int64_t i = 0; i < count; i++) {
        code[i] = of->unicode(page, (int)i);
        if (!of->box(page, (int)i, &box[i]))
            box[i] = (struct rectangle){0, 0, 0, 0};
        flags[i] = (uint8_t)((of->generated(page, (int)i) == 1) | (of->hyphen(page, (int)i) == 1) << 1);
    }
    return count;
}
