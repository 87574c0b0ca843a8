import { findCondition, cloneJson, objectOfKind } from '@rollkeeper/machinery/kubernetes';
import { pause, toRfc3339 } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { APIService } from '@rollkeeper/machinery/types/apiregistration-v1';
import { DueNames } from './due-names.js';
import { StatusError } from '../../schema/errors/index.js';
import { storageKeyOf, updateObject } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import type { FollowedResources } from '../../storage/index.js';

type ApiService = DecodedObject<APIService> & UnstructuredObject;

/** A group that another API server would serve. */
interface ExtensionGroup {
  readonly group: string;
  readonly version: string;
}

const API_SERVICES = 'apiservices.apiregistration.k8s.io';
/** As the genuine server looks again. */
const INTERVAL_MS = 10_000;
const RETRY_MS = 1000;

/**
 * The groups of APIServices that name a Service. Requests are not forwarded to other servers here, so none of them is available: the
 * status says why, and discovery that they are stale. A namespace is then not taken for empty.
 * Source: the available controller of kube-aggregator.
 */
export class ExtensionGroups {
  private readonly known = new Map<string, ExtensionGroup>();
  private readonly due: DueNames;

  constructor(
    private readonly context: RegistryContext,
    followed: FollowedResources,
  ) {
    this.due = new DueNames({
      clock: context.clock,
      retryMs: RETRY_MS,
      look: (name) => this.look(name),
      failed: (name, error) => this.mayHelp(name, error),
    });
    followed.of(API_SERVICES).onChange(({ name }, object) => {
      const { group = '', service, version = '' } = (object && objectOfKind<ApiService>(object).spec) ?? {};
      if (!service) {
        this.known.delete(name);
        return;
      }
      this.known.set(name, { group, version });
      this.due.add(name);
    });
  }

  /** In no order. */
  get all(): readonly ExtensionGroup[] {
    return [...this.known.values()];
  }

  /** Keeps their status until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.due.run(signal), this.lookAgain(signal)]);
  }

  /** Services come and go without a change of the APIService. */
  private async lookAgain(signal: AbortSignal): Promise<void> {
    while (await pause(this.context.clock, INTERVAL_MS, signal))
      for (const name of this.known.keys()) this.due.add(name);
  }

  private mayHelp(name: string, error: unknown): boolean {
    if (error instanceof StatusError && [404, 422].includes(error.status.code)) return false;
    const problem = errorMessage(error);
    this.context.logger.warn('the status of an APIService could not be written yet', {
      name,
      error: problem,
    });
    return true;
  }

  private async look(name: string): Promise<void> {
    const { clock, kinds, storage } = this.context;
    const kind = kinds.find('apiregistration.k8s.io', 'v1', 'apiservices');
    const services = kinds.find('', 'v1', 'services');
    const stored = kind && (await storage.get(storageKeyOf({ kind, namespace: '', name })));
    const named = stored && objectOfKind<ApiService>(stored.object).spec?.service;
    if (!kind || !services || !named) return;
    const { name: target = '', namespace = '' } = named;
    const isThere =
      (await storage.get(storageKeyOf({ kind: services, namespace, name: target }))) !== undefined;
    const reason = isThere ? 'FailedDiscoveryCheck' : 'ServiceNotFound';
    const message = isThere
      ? 'this API server does not forward requests to extension API servers'
      : `service/${target} in "${namespace}" is not present`;
    const change = (current: Readonly<UnstructuredObject>): UnstructuredObject => {
      const service: ApiService = objectOfKind(cloneJson(current));
      const conditions = service.status?.conditions ?? [];
      const before = findCondition(conditions, 'Available');
      if (before?.status === 'False' && before.reason === reason && before.message === message)
        return service;
      const lastTransitionTime =
        before?.status === 'False' && before.lastTransitionTime
          ? before.lastTransitionTime
          : toRfc3339(clock.now());
      const available = { type: 'Available', status: 'False', lastTransitionTime, reason, message };
      const others = conditions.filter(({ type }) => type !== 'Available');
      service.status = { ...service.status, conditions: [available, ...others] };
      return service;
    };
    const options = { subresource: 'status', dryRun: false } as const;
    await updateObject(this.context, { kind, namespace: '', name }, change, options);
  }
}
