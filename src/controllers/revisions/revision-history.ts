import type { DeepReadonly, KubernetesObject, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import {
  isJsonObject,
  compileLabelSelector,
  isControlledBy,
  newControllerRef,
  semanticEqual,
} from '@rollkeeper/machinery/kubernetes';
import type { Kind, KindIndex, ReconcileContext } from '@rollkeeper/runtime';
import { indexBy, isAlreadyExists, typeMeta } from '@rollkeeper/runtime';
import {
  ControllerRevision,
  ORPHAN_INDEX,
  claimChildren,
  decideClaims,
  orphanIndex,
  stableHash,
  unlessGone,
} from '../shared/index.js';
import type { Revised } from './decide-revisions.js';
import { decideOldRevisions, decideRevision, templateOf } from './decide-revisions.js';

type Revision = DeepReadonly<ControllerRevision>;

/** Limit of names taken by other objects in one sync. */
const MAX_COLLISIONS = 10;

/** Required in the cache of revisions. */
export const REVISION_INDEXES: readonly KindIndex[] = [
  indexBy(ControllerRevision, ORPHAN_INDEX, orphanIndex),
];

export interface Revisions {
  readonly all: readonly Revision[];
  /** The revision of the current template. */
  readonly update: Revision;
  readonly collisionCount: number;
}

type Owner = Revised & { spec: { selector: object } };
type Sync = Pick<ReconcileContext, 'client' | 'lister' | 'owned' | 'signal'>;

/** The labels of a kind's revisions. */
interface RevisionsOf<T extends KubernetesObject> {
  readonly kind: Kind<T>;
  /** On a revision: the hash in its name. */
  readonly hashLabel: string;
}

/** Adopts the selected orphan revisions of an owner, and creates that of its current template. */
export async function syncRevisions<T extends Owner>(
  of: RevisionsOf<T>,
  owner: DeepReadonly<T>,
  sync: Sync,
): Promise<Revisions> {
  const all = await claimRevisions(of.kind, owner, sync);
  const decision = decideRevision(owner.spec.template, all);
  const collisionCount = owner.status?.collisionCount ?? 0;
  if (decision.kind === 'known') return { all, update: decision.update, collisionCount };
  if (decision.kind === 'create') {
    const created = await createRevision(of, owner, decision, collisionCount, sync);
    return { all: [...all, created.update], ...created };
  }
  const { name, namespace, resourceVersion, uid } = decision.update.metadata;
  const body = { metadata: { uid, resourceVersion }, revision: decision.revision };
  const patch = { type: 'merge', body } as const;
  const update = await sync.client.patch<ControllerRevision>(ControllerRevision, { name, namespace }, patch);
  return { all: all.map((each) => (each === decision.update ? update : each)), update, collisionCount };
}

/** Deletes revisions beyond `revisionHistoryLimit`. @param isInUse whether it has pods, now or soon */
export async function truncateRevisions(
  { spec }: DeepReadonly<Revised>,
  all: readonly Revision[],
  isInUse: (revision: Revision) => boolean,
  { client }: Pick<Sync, 'client'>,
): Promise<void> {
  for (const { metadata } of decideOldRevisions(all, isInUse, spec.revisionHistoryLimit ?? 10))
    await unlessGone(
      client.delete(ControllerRevision, metadata, { preconditions: { uid: metadata.uid ?? '' } }),
    );
}

async function claimRevisions(
  kind: Kind,
  owner: DeepReadonly<Owner>,
  { client, lister, owned, signal }: Sync,
): Promise<Revision[]> {
  const orphans = lister(ControllerRevision).byIndex(ORPHAN_INDEX, owner.metadata.namespace ?? '');
  const selects = compileLabelSelector(owner.spec.selector);
  const candidates = [...owned(ControllerRevision), ...orphans];
  const decision = decideClaims({ owner, selects, candidates });
  const claim = { owner, ownerKind: kind, childKind: ControllerRevision, client, signal };
  return [...decision.owned, ...(await claimChildren(claim, decision))];
}

async function createRevision(
  { hashLabel, kind }: RevisionsOf<KubernetesObject>,
  owner: DeepReadonly<Owner>,
  { revision }: { readonly revision: number },
  firstCollision: number,
  { client }: Pick<Sync, 'client'>,
): Promise<Omit<Revisions, 'all'>> {
  const { template } = owner.spec;
  const { annotations, name: ownerName, namespace } = owner.metadata;
  for (let collisionCount = firstCollision; ; collisionCount++) {
    const hash = stableHash(template, collisionCount);
    const name = `${ownerName}-${hash}`;
    const wanted: ControllerRevision = {
      ...typeMeta(ControllerRevision),
      metadata: {
        name,
        namespace,
        labels: { ...template.metadata?.labels, [hashLabel]: hash },
        ...(annotations && { annotations: { ...annotations } }),
        ownerReferences: [newControllerRef({ ...owner, ...typeMeta(kind) })],
      },
      data: {
        spec: {
          template: sortedByKey({ ...template, $patch: 'replace' }) as PodTemplateSpec,
        },
      },
      revision,
    };
    try {
      return { update: await client.create(ControllerRevision, wanted), collisionCount };
    } catch (error) {
      if (!isAlreadyExists(error) || collisionCount - firstCollision >= MAX_COLLISIONS) throw error;
      // Created by an earlier sync whose answer got lost; or another object's name.
      const found = await client.get<ControllerRevision>(ControllerRevision, { namespace, name });
      const isOurs = isControlledBy(found, owner) && semanticEqual(templateOf(found), template);
      if (isOurs) return { update: found, collisionCount };
    }
  }
}

/** In the order in which a genuine server keeps it: clients compare the text. */
function sortedByKey(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sortedByKey(item));
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sortedByKey(field)]));
}
