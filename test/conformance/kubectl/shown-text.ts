/** Letters and digits of generated names: no vowels, and nothing that looks like something else. */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';
const AGE = String.raw`(?:\d+(?:ms|[smhdy]))+`;

const REPLACED: readonly (readonly [RegExp, string])[] = [
  // A whole live object, in an order of its own.
  [/patch: Invalid value: "\{.*\}"(?=: json: )/gs, 'patch: Invalid value: "OBJECT"'],
  [/patch: Invalid value: "\{.* more characters\)"(?=: json: )/gs, 'patch: Invalid value: "OBJECT"'],
  [/^([WEI])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, '$1 '],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, 'TIME'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://SERVER'],
  [/\b10\.(?:\d+\.){2}\d+\b/g, 'IP'],
  [/:3\d{4}\/TCP/g, ':PORT/TCP'],
  [/(?<! )( +)3\d{4}\/TCP/g, '$1PORT/TCP'],
  [/(resourceVersion\\?": ?\\?"|resourceVersion: "|Resource Version: +)\d+/gi, '$1VERSION'],
  [/\/tmp\/kubectl-edit-\d+/g, '/tmp/kubectl-edit-N'],
  [new RegExp(`-[${SAFE}]{8,10}(?![\\w.])`, 'g'), '-HASH'],
  [new RegExp(`=[${SAFE}]{8,10}$`, 'gm'), '=HASH'],
  [new RegExp(`-[${SAFE}]{5}(?![\\w.-])`, 'g'), '-RANDOM'],
  [new RegExp(`(?<=[ (])${AGE}(?=[ )]|$)`, 'gm'), 'AGE'],
  // How often depends on the time that went by.
  [/\(x\d+ over AGE\)/g, '(xN over AGE)'],
];

/**
 * A command's output without what differs between any two runs: times, ages, repetitions, generated names, addresses that the server has chosen,
 * and the widths of columns, which follow from these. Lines and paragraphs that are in the order of generated names are sorted,
 * and so are the limits of each type in a LimitRange, which kubectl prints in the order of one of Go's maps: another each time.
 */
export function shownText(text: string): readonly string[] {
  const replaced = REPLACED.reduce((shown, [pattern, by]) => shown.replace(pattern, by), text);
  const paragraphs = replaced
    .trimEnd()
    .split('\n\n\n')
    .map((paragraph) => paragraph.trimEnd());
  if (paragraphs.every((paragraph) => paragraph.includes('-HASH'))) paragraphs.sort();
  return sortedRuns(paragraphs.join('\n\n\n').split('\n').map(narrow));
}

function narrow(line: string): string {
  return line.replace(/(?<=\S) {2,}/g, '  ').trimEnd();
}

/** Type, resource, minimum, maximum, two defaults and a ratio. */
const LIMIT = /^ ?(Container|Pod|PersistentVolumeClaim)(?: {2}\S+){6}$/;

/** Any order is right of lines in a row that have the same; undefined: theirs is. */
function sortOf(line: string): string | undefined {
  return /-HASH|-RANDOM/.test(line) ? 'generated' : LIMIT.exec(line)?.[1];
}

/** Puts lines in a row whose order says nothing into one that no run changes. */
function sortedRuns(lines: readonly string[]): readonly string[] {
  const sorted: string[] = [];
  let run: string[] = [];
  let sortOfRun: string | undefined;
  const flush = (): void => {
    sorted.push(...run.sort());
    run = [];
  };
  for (const line of lines) {
    const sort = sortOf(line);
    if (sort === undefined || sort !== sortOfRun) flush();
    sortOfRun = sort;
    run.push(line);
  }
  flush();
  return sorted;
}
