import type { ApiClient } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, NameTrust } from '@rollkeeper/machinery/kubernetes';
import { shortenedTo } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { ABORT, APPROVE, OURS, RETRY } from './names.js';

/** Limit of a name in an annotation that the controller reads back, characters. */
const LONGEST_NAME = 300;

export type { NameTrust };

/** @throws what the client throws if the server does not answer */
export async function trustInNames(
  client: Pick<ApiClient, 'verifiesNames'>,
  signal?: AbortSignal,
): Promise<NameTrust> {
  return (await client.verifiesNames({ signal })) ? 'verified' : 'claimed';
}

/**
 * The name in the annotation of a request, as it is written there; undefined: nothing is requested. It may be long, and proves nothing by
 * itself: people are shown it by {@link shownName} or {@link byWhom}.
 */
export function requesterOf(annotations: Annotations, request: string): string | undefined {
  const name = annotations[request];
  return name === undefined ? undefined : shortenedTo(LONGEST_NAME, name);
}

const WITH_NAME = [APPROVE, ABORT, RETRY];

/** Whether anything with a name is requested of the Deployment. */
export function hasRequest({ metadata }: DeepReadonly<Deployment>): boolean {
  return asksForRequest(metadata.annotations ?? {});
}

/** Whether annotations request anything that is carried out once. */
export function asksForRequest(annotations: Annotations): boolean {
  return WITH_NAME.some((request) => annotations[request] !== undefined);
}

const CLAIMED_BY = 'claimed by ';

/** A name by itself: `alice`, or `claimed by alice`. */
export function shownName(name: string, trust: NameTrust): string {
  return trust === 'verified' ? name : CLAIMED_BY + named(name);
}

/** A name from a place where {@link shownName} was stored, as it is shown: another user may have written there. */
export function shownAgain(stored: string, trust: NameTrust): string {
  return stored === OURS || stored.startsWith(CLAIMED_BY) ? stored : shownName(stored, trust);
}

/** A name behind what was done: ` by alice`, or ` (claimed by alice)`. */
export function byWhom(name: string, trust: NameTrust): string {
  return trust === 'verified' ? ` by ${named(name)}` : ` (${shownName(name, trust)})`;
}

function named(name: string): string {
  return name.trim() === '' ? 'nobody' : name;
}
