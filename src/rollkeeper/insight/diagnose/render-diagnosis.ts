import { counted } from '@rollkeeper/machinery/text';
import type { Diagnosis, DiagnosisFinding } from './diagnosis.js';
import type { Problems } from './find-problems.js';

/** For people. */
export function renderDiagnosis(diagnosis: Diagnosis): string {
  const { notes, sentence, unblockedBy, waitsFor } = diagnosis;
  return [
    titleOf(diagnosis),
    sentence,
    ...section('Findings', waitsFor.flatMap(findingLines)),
    ...section(
      'What would help',
      unblockedBy.map((way) => `- ${way}`),
    ),
    ...notes.map((note) => `\nNote: ${note}`),
  ].join('\n');
}

/**
 * For people: one object after the other, each with the first thing to do.
 * @param linkOf where the console shows it @default no links
 */
export function renderProblems(
  { looked, notes, problems }: Problems,
  linkOf: (problem: Diagnosis) => string | undefined = () => undefined,
): string {
  return [
    headOf(problems.length, looked),
    ...problems.flatMap((problem) => [
      '',
      titleOf(problem),
      `  ${problem.sentence}`,
      ...problem.unblockedBy.slice(0, 1).map((way) => `  would help: ${way}`),
      ...[linkOf(problem)].filter((link) => link !== undefined).map((link) => `  in the console: ${link}`),
    ]),
    ...notes.map((note) => `\nNote: ${note}`),
  ].join('\n');
}

function headOf(problems: number, looked: number): string {
  if (looked === 0) return 'There are no objects to check: does the namespace exist?';
  return problems === 0
    ? `Nothing is wrong with the ${counted(looked, 'object')} that ${looked === 1 ? 'was' : 'were'} checked.`
    : `${problems} of ${counted(looked, 'object')}:`;
}

/** `StatefulSet shop/db`. */
function titleOf({ kind, name, namespace }: Pick<Diagnosis, 'kind' | 'name' | 'namespace'>): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

function findingLines({
  cause,
  objects = [],
  pods = [],
  severity,
  since,
  summary,
}: DiagnosisFinding): string[] {
  return [
    `- [${severity}] ${cause}: ${summary}${since === undefined ? '' : ` (since ${since})`}`,
    ...pods.map(
      ({ message, name, node, reason }) =>
        `    ${name}${node ? ` on ${node}` : ''}: ${reason}${message ? `: ${message}` : ''}`,
    ),
    ...objects.map(
      (object) => `    ${titleOf(object)}${object.detail === undefined ? '' : `: ${object.detail}`}`,
    ),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}
