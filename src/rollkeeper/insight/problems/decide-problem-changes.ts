import type { WatchedProblem } from './watched-problem.js';

/** Looks in a row that must agree: a pod that starts, or a container between two crashes, changes nothing. */
const LOOKS_TO_BELIEVE = 2;

/** The knowledge of one problem. */
interface KnownProblem {
  readonly problem: WatchedProblem;
  /** Whether it counts: it was seen in enough looks, and has not been missing in as many since. */
  readonly stands: boolean;
  /** The latest looks in a row that contradict `stands`. */
  readonly contradictions: number;
}

export type KnownProblems = ReadonlyMap<string, KnownProblem>;

interface ProblemChanges {
  readonly known: KnownProblems;
  /** Stand since this look. */
  readonly appeared: readonly WatchedProblem[];
  /** Known before this look, and solved now. */
  readonly gone: readonly WatchedProblem[];
}

/**
 * Compares a look with what is known. A problem appears when two looks in a row see it, and is solved when two in a row do not.
 * So each appearance is reported once, and one that comes and goes between looks is not reported.
 */
export function decideProblemChanges(known: KnownProblems, found: readonly WatchedProblem[]): ProblemChanges {
  const next = new Map<string, KnownProblem>();
  const appeared: WatchedProblem[] = [];
  const gone: WatchedProblem[] = [];
  for (const seen of found) {
    const before = known.get(seen.id);
    const problem = before ? { ...seen, sinceMs: Math.min(before.problem.sinceMs, seen.sinceMs) } : seen;
    const contradictions = before?.stands ? 0 : (before?.contradictions ?? 0) + 1;
    const stands = before?.stands === true || contradictions >= LOOKS_TO_BELIEVE;
    if (stands && !before?.stands) appeared.push(problem);
    next.set(seen.id, { problem, stands, contradictions: stands ? 0 : contradictions });
  }
  for (const [id, before] of known) {
    if (next.has(id) || !before.stands) continue;
    const contradictions = before.contradictions + 1;
    if (contradictions >= LOOKS_TO_BELIEVE) gone.push(before.problem);
    else next.set(id, { ...before, contradictions });
  }
  return { known: next, appeared, gone };
}

/** The problems that earlier looks have reported, as they are known before the first look. */
export function knownBefore(problems: readonly WatchedProblem[]): KnownProblems {
  return new Map(problems.map((problem) => [problem.id, { problem, stands: true, contradictions: 0 }]));
}

/** The problems that stand. */
export function standing(known: KnownProblems): readonly WatchedProblem[] {
  return [...known.values()].filter(({ stands }) => stands).map(({ problem }) => problem);
}

/** A kind and a cause: the labels of the metrics, which have no names of objects and so stay few. */
export interface ProblemCount {
  readonly kind: string;
  readonly cause: string;
  readonly count: number;
  /** Age of the oldest. */
  readonly oldestSeconds: number;
}

/** How many problems stand, and how old the oldest is, by kind and cause. */
export function countProblems(known: KnownProblems, nowMs: number): readonly ProblemCount[] {
  const groups = Map.groupBy(standing(known), ({ cause, kind }) => `${kind} ${cause}`);
  return [...groups.values()].flatMap((problems) => {
    const [first] = problems;
    if (!first) return [];
    const oldestMs = Math.min(...problems.map(({ sinceMs }) => sinceMs));
    const { cause, kind } = first;
    return [{ kind, cause, count: problems.length, oldestSeconds: Math.max(0, nowMs - oldestMs) / 1000 }];
  });
}
