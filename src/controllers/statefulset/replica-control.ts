import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext, StatefulSet } from '@rollkeeper/runtime';
import { PersistentVolumeClaim, Pod, isAlreadyExists, unlessGone } from '@rollkeeper/runtime';
import type { PodWords } from '../shared/index.js';
import { PodControl, failuresOf } from '../shared/index.js';
import type { PodOfClaim, ReadableClaim } from './decide-claim-owners.js';
import { decideClaimOwners } from './decide-claim-owners.js';
import type { ReplicaStep } from './decide-replicas.js';
import type { ReadablePod, ReadableSet } from './identity.js';
import { decideCorrection, podName, replicaClaims, replicaPod } from './identity.js';

type Sync = Pick<ReconcileContext<StatefulSet>, 'client' | 'events' | 'lister' | 'signal'>;

/** Executes the decided steps for one replica, each with its Event. A step rejects if it fails. */
export class ReplicaControl {
  private readonly control: PodControl;

  /** @param templateOf the template of a revision */
  constructor(
    private readonly set: ReadableSet,
    private readonly templateOf: (revision: string) => DeepReadonly<PodTemplateSpec>,
    private readonly sync: Sync,
  ) {
    const words: PodWords = (verb, pod, error) => podWords(capitalised(verb), pod, set, error);
    this.control = new PodControl(set, { ...sync, words });
  }

  async take(step: ReplicaStep): Promise<void> {
    switch (step.do) {
      case 'create':
        return this.create(step.ordinal, step.revision);
      case 'delete':
        return this.delete(step.pod);
      case 'claims':
        await this.makeClaims(step.ordinal);
        return this.keepOwners(step.pod, step.ordinal).catch((error: unknown) =>
          this.failUpdate(step.pod, error),
        );
      case 'correct':
        return this.correct(step.pod, step.ordinal);
      case 'owners':
        return this.keepOwners(step.pod, step.ordinal);
    }
  }

  /** Its claims first: they outlive it. */
  private async create(ordinal: number, revision: string): Promise<void> {
    const { set } = this;
    const name = podName(set, ordinal);
    try {
      await this.makeClaims(ordinal);
    } catch (error) {
      this.record('Warning', 'FailedCreate', podWords('Create', name, set, errorMessage(error)));
      throw error;
    }
    const pod = replicaPod({ set, ordinal, template: this.templateOf(revision), revision });
    throwFirst(failuresOf([await this.control.tryCreate(pod)]));
    await this.keepOwners({ metadata: { name } }, ordinal).catch((error: unknown) =>
      this.failUpdate({ metadata: { name } }, error),
    );
  }

  private async delete({ metadata }: ReadablePod): Promise<void> {
    const outcome = await this.control.tryDelete({ name: metadata.name, uid: metadata.uid ?? '' });
    throwFirst(failuresOf([outcome]));
  }

  private async correct(pod: ReadablePod, ordinal: number): Promise<void> {
    const { client, signal } = this.sync;
    const { name, namespace, resourceVersion, uid } = pod.metadata;
    try {
      const correction = decideCorrection(this.set, pod, ordinal);
      if (correction?.volumes) await this.makeClaims(ordinal);
      await this.keepOwners(pod, ordinal);
      if (correction) {
        const { labels, volumes } = correction;
        const body = { metadata: { uid, resourceVersion, labels }, ...(volumes && { spec: { volumes } }) };
        await client.patch(Pod, { name, namespace }, { type: 'strategic', body }, { signal });
      }
    } catch (error) {
      return this.failUpdate(pod, error);
    }
    this.record('Normal', 'SuccessfulUpdate', podWords('Update', name, this.set, undefined));
  }

  /** @throws also if an existing one must be deleted first */
  private async makeClaims(ordinal: number): Promise<void> {
    const failures: string[] = [];
    for (const claim of replicaClaims(this.set, ordinal)) {
      const found = this.claimOf(claim);
      if (!found)
        await this.makeClaim(claim, ordinal).catch((error: unknown) => failures.push(errorMessage(error)));
      else if (found.metadata.deletionTimestamp !== undefined)
        failures.push(`pvc ${claim.metadata.name} is being deleted`);
    }
    const [first] = failures;
    if (first !== undefined) throw new Error(failures.length === 1 ? first : `[${failures.join(', ')}]`);
  }

  private async makeClaim(claim: PersistentVolumeClaim, ordinal: number): Promise<void> {
    const { name } = claim.metadata;
    const { client, signal } = this.sync;
    const words = (of: string) =>
      `Create Claim ${name} ${of} ${podName(this.set, ordinal)} in StatefulSet ${this.set.metadata.name}`;
    try {
      await client.create(PersistentVolumeClaim, claim, { signal });
    } catch (error) {
      const message = errorMessage(error);
      // The cache will show it, and its state.
      if (!isAlreadyExists(error))
        this.record('Warning', 'FailedCreate', `${words('for Pod')} failed error: ${message}`);
      throw new Error(`failed to create PVC ${name}: ${message}`, { cause: error });
    }
    this.record('Normal', 'SuccessfulCreate', `${words('Pod')} success`);
  }

  /**
   * Sets the claims' owners by the retention policy. A claim that does not exist yet gets its owners when the cache
   * shows it.
   */
  private async keepOwners(pod: PodOfClaim, ordinal: number): Promise<void> {
    for (const { metadata } of replicaClaims(this.set, ordinal)) {
      const claim = this.claimOf({ metadata });
      if (!claim) continue;
      const { isConflicting, owners } = decideClaimOwners(claim, this.set, pod);
      // The word "manging" is the genuine one.
      if (isConflicting)
        this.record(
          'Warning',
          'ConflictingController',
          `PersistentVolumeClaim ${metadata.name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
        );
      if (owners) await this.writeOwners(claim, owners);
    }
  }

  private async writeOwners({ metadata }: ReadableClaim, ownerReferences: unknown): Promise<void> {
    const { name, namespace, resourceVersion, uid } = metadata;
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    const { client, signal } = this.sync;
    try {
      const ref = { name, namespace };
      await unlessGone(client.patch(PersistentVolumeClaim, ref, { type: 'merge', body }, { signal }));
    } catch (error) {
      throw new Error(`could not update claim ${name} for delete policy ownerRefs: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  private claimOf(claim: PodOfClaim): ReadableClaim | undefined {
    return this.sync.lister(PersistentVolumeClaim).get(keyOf(claim.metadata));
  }

  private failUpdate({ metadata }: PodOfClaim, error: unknown): never {
    this.record('Warning', 'FailedUpdate', podWords('Update', metadata.name, this.set, errorMessage(error)));
    throw error;
  }

  private record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (!this.sync.signal.aborted) this.sync.events.record(this.set, { type, reason, message });
  }
}

/** The words of 1.36, in which the verb is capitalised. */
function podWords(verb: string, pod: string, { metadata }: ReadableSet, error: string | undefined): string {
  const outcome = error === undefined ? 'successful' : `failed error: ${error}`;
  return `${verb} Pod ${pod} in StatefulSet ${metadata.name} ${outcome}`;
}

function capitalised(verb: 'create' | 'delete'): string {
  return verb === 'create' ? 'Create' : 'Delete';
}

function throwFirst([failure]: readonly unknown[]): void {
  if (failure !== undefined) throw failure instanceof Error ? failure : new Error(errorMessage(failure));
}
