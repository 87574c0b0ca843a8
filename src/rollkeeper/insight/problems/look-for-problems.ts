import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound, listAll } from '@rollkeeper/client/api-client';
import { Event } from '@rollkeeper/machinery/kubernetes';
import type { FindProblemsOptions, Problems } from '../diagnose/index.js';
import { findProblems } from '../diagnose/index.js';
import type { RecordedEvent } from './problem-events.js';
import { PROBLEM_COMPONENT, reportedProblems } from './problem-events.js';
import type { WatchedProblem } from './watched-problem.js';

/** Looks at the whole cluster, or at each of the namespaces that an installation works in. @param namespaces empty: all */
export async function lookForProblems(
  client: ApiClient,
  namespaces: readonly string[],
  options: Omit<FindProblemsOptions, 'namespace'>,
): Promise<Problems> {
  if (namespaces.length === 0) return findProblems(client, options);
  const { beside, ...ofNamespaces } = options;
  const all: Problems[] = [];
  // One after the other: no list is asked for sooner than the one before has been answered.
  for (const namespace of namespaces)
    all.push(await findProblems(client, { ...ofNamespaces, namespace, staysInNamespace: true }));
  // Once, and not once in each of them.
  const besides = (await beside?.()) ?? [];
  return {
    problems: [...all.flatMap(({ problems }) => problems), ...besides],
    looked: sum(all.map(({ looked }) => looked)) + besides.length,
    notes: [...new Set(all.flatMap(({ notes }) => notes))],
    reads: {
      api: sum(all.map(({ reads }) => reads.api)),
      caches: sum(all.map(({ reads }) => reads.caches)),
    },
  };
}

/** The problems that earlier leaders have reported, from the API's Events. None where those may not be listed. */
export async function readReportedProblems(
  client: Pick<ApiClient, 'list'>,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<readonly WatchedProblem[]> {
  const places = namespaces.length === 0 ? [undefined] : namespaces;
  const lists = await Promise.all(places.map((namespace) => eventsOf(client, namespace, signal)));
  return reportedProblems(lists.flat());
}

async function eventsOf(
  client: Pick<ApiClient, 'list'>,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly RecordedEvent[]> {
  try {
    return await listAll<RecordedEvent>(client, Event, {
      ...(namespace !== undefined && { namespace }),
      fieldSelector: `reportingComponent=${PROBLEM_COMPONENT}`,
      signal,
    });
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return [];
    throw error;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
