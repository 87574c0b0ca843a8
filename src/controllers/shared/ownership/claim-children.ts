import type { ApiClient, Kind } from '@rollkeeper/runtime';
import { isConflict, isInvalid, isNotFound } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ClaimDecision } from './claim-decision.js';
import { adoptionPatch, releasePatch } from './claim-decision.js';

export interface ChildClaim<T extends KubernetesObject> {
  /** With `apiVersion` and `kind`. */
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly ownerKind: Kind;
  readonly childKind: Kind<T>;
  /** Added to adopted children, and removed from released ones. @default none */
  readonly finalizer?: string;
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/**
 * Executes {@link decideClaims}: adopts and releases. Before the first adoption the owner is read from the server: one
 * that was deleted or replaced in the meantime must not adopt children that a user orphaned on purpose.
 * @returns the adopted children
 */
export async function claimChildren<T extends KubernetesObject>(
  claim: ChildClaim<T>,
  { adopt, release }: Pick<ClaimDecision<DeepReadonly<T>>, 'adopt' | 'release'>,
): Promise<DeepReadonly<T>[]> {
  const { finalizer, owner } = claim;
  const adopted =
    adopt.length > 0 && (await mayAdopt(claim))
      ? await patchAll(claim, adopt, (child) => adoptionPatch(owner, child, finalizer))
      : [];
  await patchAll(claim, release, (child) => releasePatch(owner, child, finalizer));
  return adopt.filter((_, index) => adopted[index]);
}

async function mayAdopt<T extends KubernetesObject>({ client, owner, ownerKind, signal }: ChildClaim<T>) {
  const { name, namespace, uid } = owner.metadata;
  try {
    const { metadata } = await client.get(ownerKind, { namespace, name }, { signal });
    return metadata.uid === uid && metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/**
 * Patches every child and returns which patches succeeded. A child that no longer exists, was replaced, or has another owner by
 * now is skipped; its own event follows. Any other error fails the sync, after all have ended.
 */
async function patchAll<T extends KubernetesObject>(
  { childKind, client, signal }: ChildClaim<T>,
  children: readonly DeepReadonly<T>[],
  patchFor: (child: DeepReadonly<KubernetesObject>) => unknown,
): Promise<boolean[]> {
  const results = await Promise.allSettled(
    children.map((child) => {
      const { name, namespace } = child.metadata;
      const patch = { type: 'strategic', body: patchFor(child) } as const;
      return client.patch<T>(childKind, { namespace, name }, patch, { signal });
    }),
  );
  return results.map((result) => {
    if (result.status === 'fulfilled') return true;
    if (isNotFound(result.reason) || isConflict(result.reason) || isInvalid(result.reason)) return false;
    throw result.reason;
  });
}
