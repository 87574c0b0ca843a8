import type { EventNote } from '@rollkeeper/client/events';
import { parseTimeMs, shortenedTo } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { consoleLink } from '../object-pages/console-link.js';
import { ended } from '../ended.js';
import { problemId } from './watched-problem.js';
import type { WatchedProblem } from './watched-problem.js';

/** Names the recorder of these Events. */
export const PROBLEM_COMPONENT = 'rollkeeper-problems';
/** The reason of the Event that says that a problem is solved. */
export const PROBLEM_SOLVED = 'ProblemSolved';

const HELP = ' What helps: ';
const LINK = ' In the console: ';
/** The API takes a message of 1024 bytes; these texts are mostly ASCII. */
const LONGEST_MESSAGE = 1000;
/** A longer link would leave too little for the words. */
const LONGEST_LINK = 500;

/** `image-pull` is `ImagePull`, the reason of its Event. */
export function reasonOf(cause: string): string {
  return cause.replaceAll(/(?:^|-)([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/**
 * The Warning about a problem that has appeared: what is wrong, what helps, and where to look.
 * @param consoleUrl origin of the console; absent: no link
 */
export function appearedNote(problem: WatchedProblem, consoleUrl?: string): EventNote {
  const { cause, remedy, summary } = problem;
  return {
    type: 'Warning',
    reason: reasonOf(cause),
    message: withLink(
      remedy === undefined ? summary : `${ended(summary)}${HELP}${remedy}`,
      problem,
      consoleUrl,
    ),
    action: cause,
  };
}

/** The Normal Event about a problem that is solved. */
export function goneNote(problem: WatchedProblem, consoleUrl?: string): EventNote {
  const { cause, summary } = problem;
  return {
    type: 'Normal',
    reason: PROBLEM_SOLVED,
    message: withLink(`${reasonOf(cause)} is over: ${summary}`, problem, consoleUrl),
    action: cause,
  };
}

/** The words give way, so that the link stays whole. */
function withLink(words: string, problem: WatchedProblem, consoleUrl: string | undefined): string {
  const link = consoleUrl === undefined ? '' : consoleLink(consoleUrl, problem);
  if (link === '' || link.length > LONGEST_LINK) return shortenedTo(LONGEST_MESSAGE, words);
  const end = `${LINK}${link}`;
  return ended(shortenedTo(LONGEST_MESSAGE - end.length - 1, words)) + end;
}

/** The problem in a message, without what helps and where to look. */
function summaryOf(message: string): string {
  const [words = message] = message.split(LINK);
  const [summary = words] = words.split(HELP);
  return summary === message ? summary : summary.replace(/\.$/, '');
}

/** The subject of an Event; a replica or a certificate has no UID. Undefined: nothing that an Event can name. */
export function objectOf({
  apiVersion,
  kind,
  name,
  namespace,
  uid,
}: WatchedProblem): DeepReadonly<KubernetesObject> | undefined {
  if (apiVersion === undefined) return undefined;
  return {
    ...{ apiVersion, kind },
    metadata: { name, ...(uid !== undefined && { uid }), ...(namespace !== undefined && { namespace }) },
  };
}

/** The fields of a recorded Event that matter here. */
export interface RecordedEvent extends KubernetesObject {
  readonly type?: string;
  readonly reason?: string;
  readonly action?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
  readonly reportingComponent?: string;
  readonly involvedObject?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

/**
 * The problems that earlier leaders have reported and not reported as solved. The API's Events are the memory of this work: a
 * new leader repeats no Warning, and reports problems that were solved while there was no leader.
 */
export function reportedProblems(events: readonly RecordedEvent[]): readonly WatchedProblem[] {
  const ours = events
    .filter(({ reportingComponent }) => reportingComponent === PROBLEM_COMPONENT)
    .toSorted((a, b) => timeOf(a) - timeOf(b));
  const open = new Map<string, WatchedProblem>();
  for (const event of ours) {
    const problem = problemOf(event);
    if (!problem) continue;
    if (event.reason === PROBLEM_SOLVED) open.delete(problem.id);
    else open.set(problem.id, problem);
  }
  return [...open.values()];
}

function problemOf(event: RecordedEvent): WatchedProblem | undefined {
  const { action: cause, involvedObject = {}, message = '' } = event;
  const { apiVersion, kind, name, namespace, uid } = involvedObject;
  if (cause === undefined || kind === undefined || name === undefined) return undefined;
  return {
    id: problemId({ kind, namespace, name, uid, cause }),
    ...{ kind, name, cause },
    summary: summaryOf(message),
    sinceMs: timeOf(event),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  };
}

function timeOf({ lastTimestamp }: RecordedEvent): number {
  return parseTimeMs(lastTimestamp) ?? 0;
}
