import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import {
  ABORT,
  APPROVE,
  RETRY,
  WAITING_FOR_APPROVAL,
  findCondition,
  readFailures,
} from '@rollkeeper/controllers/deployment';
import type { RolloutTarget } from './rollout-verbs.js';

/** What a person can say to a rollout that looks after itself. */
export type RolloutRequest = 'promote' | 'abort' | 'retry';

const ANNOTATIONS: Readonly<Record<RolloutRequest, string>> = {
  promote: APPROVE,
  abort: ABORT,
  retry: RETRY,
};

/**
 * Asks by the annotation that the controller takes away again once it has done so.
 * @param by who asks, as it is recorded
 * @returns what was asked, for people
 * @throws UnsupportedError where there is nothing that the request could be about
 */
export async function requestOfRollout(
  { client, deployment, type }: RolloutTarget,
  request: RolloutRequest,
  by: string,
): Promise<string> {
  const problem = problemOf(deployment, request);
  const { name, resourceVersion } = deployment.metadata;
  if (problem !== undefined) throw new UnsupportedError(`${name} ${problem}`);
  // Of the rollout that was looked at: an approval of another one, a moment later, would be a mistake.
  const metadata = { resourceVersion, annotations: { [ANNOTATIONS[request]]: by } };
  await client.patch(type, deployment.metadata, { type: 'merge', body: { metadata } });
  const done = { promote: 'approved', abort: 'asked to go back', retry: 'asked to try again' }[request];
  return `${qualifiedResource(type)}/${name} ${done} by ${by}`;
}

function problemOf({ metadata, spec, status }: Deployment, request: RolloutRequest): string | undefined {
  if (spec.paused) return 'is paused: resume it first';
  const progressing = findCondition(status?.conditions, 'Progressing');
  if (request === 'promote' && progressing?.reason !== WAITING_FOR_APPROVAL)
    return `does not wait for an approval${progressing?.message ? `: ${progressing.message}` : ''}`;
  if (request === 'retry' && readFailures(metadata.annotations ?? {}).length === 0)
    return 'has no template that failed';
  return undefined;
}
