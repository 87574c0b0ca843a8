import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { isConflict } from '@rollkeeper/client/api-client';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource, semanticEqual } from '@rollkeeper/machinery/kubernetes';
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

/** Writes of the controller that may come in between. */
const MOST_ATTEMPTS = 10;

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
  const { name } = deployment.metadata;
  let seen = deployment;
  for (let attempt = 1; ; attempt++) {
    const problem = problemOf(seen, request);
    if (problem !== undefined) throw new UnsupportedError(`${name} ${problem}`);
    // Of the rollout that was looked at: an approval of another one, a moment later, would be a mistake.
    const { resourceVersion } = seen.metadata;
    const metadata = { resourceVersion, annotations: { [ANNOTATIONS[request]]: by } };
    try {
      await client.patch(type, deployment.metadata, { type: 'merge', body: { metadata } });
      break;
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
    // Most often the controller has counted its pods meanwhile.
    seen = await client.get<Deployment>(type, deployment.metadata);
    if (!isSameRollout(deployment, seen))
      throw new UnsupportedError(`${name} has changed meanwhile: look at it again`);
  }
  const done = { promote: 'approved', abort: 'asked to go back', retry: 'asked to try again' }[request];
  return `${qualifiedResource(type)}/${name} ${done} by ${by}`;
}

/** Whether what a person decided about is still there: the template, and the step at which it waits. */
function isSameRollout(before: Deployment, after: Deployment): boolean {
  const waitsAt = ({ status }: Deployment): string | undefined => {
    const progressing = findCondition(status?.conditions, 'Progressing');
    return progressing?.reason === WAITING_FOR_APPROVAL ? progressing.message : undefined;
  };
  return (
    before.metadata.uid === after.metadata.uid &&
    semanticEqual(before.spec.template, after.spec.template) &&
    waitsAt(before) === waitsAt(after)
  );
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
