import { counted } from '@rollkeeper/machinery/text';
import { renderDuration } from '@rollkeeper/machinery/clock';
import { renderTable } from '../../terminal/index.js';
import type { PastExperiment } from './experiment-history.js';
import { renderPastExperiments } from './experiment-history.js';
import type { RevisionReport } from './rollout-history.js';

const NONE = '<none>';
const HEADINGS = ['REVISION', 'STARTED', 'BY', 'TRIGGER', 'RESULT', 'TOOK', 'CHANGE-CAUSE'];

/**
 * A table for people, oldest first: the columns of `kubectl rollout history` at its ends. If there were experiments, a table of them
 * follows.
 * @param isWide with the images and pods of each
 */
export function renderRevisions(
  revisions: readonly RevisionReport[],
  isWide = false,
  experiments: readonly PastExperiment[] = [],
): string {
  const wide = (cells: readonly string[]): readonly string[] => (isWide ? cells : []);
  const table = renderTable([
    [...HEADINGS, ...wide(['REPLICASET', 'PODS', 'IMAGES'])],
    ...revisions.map((report) => [
      ...rowOf(report),
      ...wide([report.replicaSet, String(report.pods), report.images.join(',')]),
    ]),
  ]);
  return experiments.length === 0 ? table : `${table}\n\n${renderPastExperiments(experiments)}`;
}

/** One revision, a line for each thing that is known of it. */
export function renderRevision(report: RevisionReport): string {
  const {
    approvals,
    checks,
    cause,
    endedAt,
    experiments,
    goodSince,
    images,
    pods,
    replicaSet,
    startedAt,
    tool,
    trigger,
    user,
    what,
    why,
  } = report;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['Revision', `${report.revision}${report.isCurrent ? ' (current)' : ''}`],
    ['ReplicaSet', `${replicaSet}, ${counted(pods, 'pod')}`],
    ['Images', images.join(', ')],
    ['Started', startedAt],
    ['By', askedBy(report)],
    ['User', user],
    ['With', tool],
    ['Trigger', trigger],
    ['Why', why],
    ['Changed', what],
    ['Result', `${report.result}${cause === undefined ? '' : `: ${cause}`}`],
    [
      'Ended',
      endedAt === undefined
        ? undefined
        : `${endedAt}${took(report) === NONE ? '' : `, after ${took(report)}`}`,
    ],
    ['Good since', goodSince],
    ...checks.map(
      ({ check, state, step, taken, why: problem }) =>
        [
          'Check',
          `${check}${step === undefined ? '' : ` at step ${step}`} ${state}, measured ${counted(taken, 'time')}${problem === undefined ? '' : `: ${problem}`}`,
        ] as const,
    ),
    ...experiments.map(
      ({ experiment, verdict, why: problem }) =>
        ['Experiment', `${experiment}: ${verdict}${problem === undefined ? '' : `, ${problem}`}`] as const,
    ),
    ...approvals.map(({ at, by, step }) => ['Approved', `step ${step} at ${at}: ${by}`] as const),
  ];
  return lines
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${`${name}:`.padEnd(12)}${value ?? ''}`)
    .join('\n');
}

function rowOf(report: RevisionReport): string[] {
  const { isCurrent, nowRevision, result, revision, startedAt, trigger, why } = report;
  const later = nowRevision === undefined ? '' : ` (now ${nowRevision})`;
  return [
    `${revision}${isCurrent ? ' *' : later}`,
    startedAt ?? NONE,
    askedBy(report) ?? NONE,
    trigger ?? NONE,
    result,
    took(report),
    why ?? NONE,
  ];
}

function askedBy({ tool, who }: RevisionReport): string | undefined {
  return who ?? tool;
}

function took({ tookMs }: RevisionReport): string {
  return tookMs === undefined ? NONE : renderDuration(tookMs);
}
