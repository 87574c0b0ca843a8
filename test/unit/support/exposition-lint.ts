/** Suffixes that Prometheus gives to series of histograms and summaries. */
const OF_HISTOGRAMS = /_(bucket|count|sum)$/;
/** Units other than the base units, and short forms of units. */
const OTHER_UNITS =
  /_(milliseconds|microseconds|nanoseconds|minutes|hours|days|kilobytes|megabytes|gigabytes|kibibytes|mebibytes|ms|us|ns|sec|secs|kb|mb|gb)(_total)?$/;

/** Counters that have Kubernetes' own names, which dashboards and alerts for a kube-apiserver ask for. */
const NAMED_LIKE_THERE: ReadonlySet<string> = new Set([
  'authentication_attempts',
  'authenticated_user_requests',
]);

/**
 * The problems that `promtool check metrics` would report about a text of version 0.0.4, by the rules of its linter.
 */
export function lintExposition(text: string): string[] {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const helps = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name = '']) => name));
  return [...types].flatMap(([name, type]) => {
    const labels = labelsOf(text, name);
    const problems: readonly (readonly [boolean, string])[] = [
      [!helps.has(name), 'no help text'],
      [
        type === 'counter' && !name.endsWith('_total') && !NAMED_LIKE_THERE.has(name),
        'counter metrics should have "_total" suffix',
      ],
      [type !== 'counter' && name.endsWith('_total'), 'non-counter metrics should not have "_total" suffix'],
      [type !== 'histogram' && type !== 'summary' && OF_HISTOGRAMS.test(name), 'a suffix of histograms'],
      [type !== 'histogram' && labels.has('le'), 'non-histogram metrics should not have "le" label'],
      [type !== 'summary' && labels.has('quantile'), 'non-summary metrics should not have "quantile" label'],
      [/_(gauge|counter|histogram|summary)(_|$)/.test(name), 'metric name should not include type'],
      [!/^[a-z][a-z0-9_]*$/.test(name), "metric names should be written in 'snake_case'"],
      [
        [...labels].some((label) => !/^[a-z][a-z0-9_]*$/.test(label)),
        "label names should be written in 'snake_case'",
      ],
      [OTHER_UNITS.test(name), 'use a base unit, in full'],
      [type === 'untyped', 'no type'],
    ];
    return problems.flatMap(([isSo, problem]) => (isSo ? [`${name}: ${problem}`] : []));
  });
}

function labelsOf(text: string, name: string): ReadonlySet<string> {
  const series = text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\}`, 'gm'));
  return new Set(
    [...series].flatMap(([, labels = '']) =>
      [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = '']) => label),
    ),
  );
}
