"""One HTML file that answers in ten seconds and explains in ten minutes."""

from focuseval.report.build import build_report
from focuseval.report.page import render_html
from focuseval.report.report import Report

__all__ = ["Report", "build_report", "render_html"]
