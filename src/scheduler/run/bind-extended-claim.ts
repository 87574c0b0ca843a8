import { isNotFound } from '@rollkeeper/runtime';
import type { ApiClient } from '@rollkeeper/runtime';
import { TerminalError, errorMessage } from '@rollkeeper/machinery/errors';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ReadablePod } from '../framework/node-info.js';
import type { RequestMapping } from '../plugins/dynamic-resources/extended-claim.js';
import type { ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';
import type { AssumedObjects, ExpectedObject } from './assumed-objects.js';
import { deleteClaim, writeAllocated } from './claim-writes.js';
import type { SchedulerMetrics } from './metrics.js';

interface ExtendedClaimParts {
  readonly client: ApiClient;
  readonly claims: ResourceType | undefined;
  readonly assumed: AssumedObjects;
  readonly metrics: Pick<SchedulerMetrics, 'claimCreated'>;
  readonly logger: Logger;
}

/** The devices that serve a pod's extended resources, from the decision until the pod is bound. */
export interface ReservedResources {
  readonly wanted: ResourceClaim;
  readonly mappings: readonly RequestMapping[];
  readonly expected: ExpectedObject;
  /** Once there is a claim to delete if the pod is not bound. */
  created?: ResourceClaim;
}

const DELETES_WITHIN_MS = 10_000;

/**
 * The claims that the scheduler makes of pods' extended resources. Their devices are taken with the decision; the claim is created right
 * before the binding, named in the pod's status, and deleted again if the pod is not bound.
 */
export class ExtendedClaims {
  private readonly deletions = new Set<Promise<void>>();

  constructor(private readonly parts: ExtendedClaimParts) {}

  take(wanted: ResourceClaim, mappings: readonly RequestMapping[]): ReservedResources {
    const expected = this.parts.assumed.expect('resource.k8s.io/resourceclaims', wanted);
    return { wanted, mappings, expected };
  }

  /** @returns the claim that it has made */
  async bind(pod: ReadablePod, reserved: ReservedResources, signal: AbortSignal): Promise<ResourceClaim> {
    const { claims: type, client } = this.parts;
    if (!type) throw new TerminalError('the API server has no ResourceClaims');
    const { metadata, spec, status, ...kind } = reserved.wanted;
    const { name: _none, ...meta } = metadata;
    const created = await this.create(type, { ...kind, metadata: meta, spec } as ResourceClaim, signal);
    reserved.created = created;
    const claim = await writeAllocated(client, type, { ...created, status }, signal);
    reserved.created = claim;
    reserved.expected.created(claim);
    const { name, namespace, uid } = pod.metadata;
    const extendedResourceClaimStatus = {
      resourceClaimName: claim.metadata.name,
      requestMappings: reserved.mappings,
    };
    const body = { metadata: { uid }, status: { extendedResourceClaimStatus } };
    await client.patch(
      Pod,
      { namespace, name },
      { type: 'strategic', body },
      { subresource: 'status', signal },
    );
    return claim;
  }

  /** Called if the pod is not bound. A claim that is not deleted here is deleted when the pod is retried. */
  giveBack({ created, expected }: ReservedResources): void {
    if (!created) {
      expected.forget();
      return;
    }
    const deletion = this.delete(created).finally(() => expected.forget());
    this.deletions.add(deletion);
    void deletion.finally(() => this.deletions.delete(deletion));
  }

  /** Resolves when nothing is being deleted. */
  async idle(): Promise<void> {
    while (this.deletions.size > 0) await Promise.all(this.deletions);
  }

  private async create(
    type: ResourceType,
    claim: ResourceClaim,
    signal: AbortSignal,
  ): Promise<ResourceClaim> {
    try {
      const created = await this.parts.client.create(type, claim, { signal });
      this.parts.metrics.claimCreated('success');
      return created;
    } catch (error) {
      this.parts.metrics.claimCreated('failure');
      throw error;
    }
  }

  private async delete(claim: ResourceClaim): Promise<void> {
    const { claims: type, client, logger } = this.parts;
    if (!type) return;
    try {
      await deleteClaim(client, type, claim, AbortSignal.timeout(DELETES_WITHIN_MS));
    } catch (error) {
      if (isNotFound(error)) return;
      const { name, namespace } = claim.metadata;
      logger.warn('could not delete the claim of a pod that was not bound', {
        ...{ namespace, claim: name },
        error: errorMessage(error),
      });
    }
  }
}
