"""Estimates from people's sample and a model, topic by topic, as the formulas are written."""

from math import log, sqrt
from statistics import mean, variance

from scipy.stats import norm, t


def regression(people: list[float], model: list[float]) -> dict[str, float]:
    """Return estimate, weight, variance, interval and p; the sample is the first topics of the model's."""
    n, total = len(people), len(model)
    sample = model[:n]
    y_mean, f_mean, whole = mean(people), mean(sample), mean(model)
    square = sum((f - f_mean) ** 2 for f in sample)
    weight = sum((y - y_mean) * (f - f_mean) for y, f in zip(people, sample, strict=True)) / square if square else 0.0
    v = 0.0
    for y, f in zip(people, sample, strict=True):
        residual = (y - y_mean) - weight * (f - f_mean)
        leverage = 1 / n + ((f - f_mean) ** 2 / square if square else 0.0)
        pull = 1 / n + ((f - f_mean) * (whole - f_mean) / square if square else 0.0)
        v += (pull * residual / (1 - min(leverage, 0.99))) ** 2
    v += weight**2 * variance(model) / total
    theta = y_mean + weight * (whole - f_mean)
    reach = float(t.ppf(0.975, n - 2)) * sqrt(v)
    p = 2 * float(t.sf(abs(theta) / sqrt(v), n - 2)) if v else float(theta == 0)
    return {"estimate": theta, "weight": weight, "variance": v, "low": theta - reach, "high": theta + reach, "p": p}


def clustered(people: list[float], model: list[float], cluster: list[str]) -> dict[str, float]:
    """Return the same with sums and residuals over clusters."""
    n, total = len(people), len(model)
    names = list(dict.fromkeys(cluster[:n]))
    y_mean, f_mean, whole = mean(people), mean(model[:n]), mean(model)
    here = {name: [i for i in range(n) if cluster[i] == name] for name in names}
    of_y = {name: sum(people[i] - y_mean for i in own) for name, own in here.items()}
    of_f = {name: sum(model[i] - f_mean for i in own) for name, own in here.items()}
    square = sum(f**2 for f in of_f.values())
    weight = sum(of_y[name] * of_f[name] for name in names) / square
    v = 0.0
    for name, own in here.items():
        leverage = len(own) / n + of_f[name] ** 2 / square
        pull = 1 / n + of_f[name] * (whole - f_mean) / square
        v += (pull * (of_y[name] - weight * of_f[name]) / (1 - min(leverage, 0.99))) ** 2
    every = {name: [i for i in range(total) if cluster[i] == name] for name in dict.fromkeys(cluster)}
    spread = sum(
        sum(model[i] - whole for i in own) ** 2 / (1 - len(own) / total) for own in every.values()
    ) / total**2  # fmt: skip
    v += weight**2 * spread
    reach = float(t.ppf(0.975, len(names) - 2)) * sqrt(v)
    theta = y_mean + weight * (whole - f_mean)
    return {"estimate": theta, "weight": weight, "low": theta - reach, "high": theta + reach}


def at_any_time(n: int, variance_: float, alpha: float = 0.05) -> float:
    """Return how far an interval reaches that may be looked at at any time."""
    rho = (-2 * log(alpha) + log(1 - 2 * log(alpha))) / 60
    q = sqrt(2 * (n * rho + 1) / (n * rho) * log(sqrt(n * rho + 1) / alpha))
    return q * float(t.ppf(1 - alpha / 2, n - 2)) / float(norm.ppf(1 - alpha / 2)) * sqrt(variance_)


def topics_needed(deviation: float, floor: float, reach: float, topics: int, power: float) -> float:
    """Return the fewest topics by people with which the interval is short enough; infinite if none are."""
    for n in range(10, topics + 1):
        v = deviation**2 / n + floor
        if at_any_time(n, v) + float(norm.ppf(power)) * sqrt(v) <= reach:
            return n
    return float("inf")
