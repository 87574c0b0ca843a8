import type { ValidatingAdmissionPolicy } from '@rollkeeper/machinery/types/admissionregistration-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { DueNames } from '../due-names.js';
import { StatusError } from '../../../schema/errors/index.js';
import { updateObject } from '../../../objects/registry/index.js';
import type { RegistryContext } from '../../../objects/registry/index.js';
import type { FollowedResources } from '../../../storage/index.js';
import { checkPolicy } from './check-policy.js';

type Policy = ValidatingAdmissionPolicy & UnstructuredObject;

const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io';
const RETRY_MS = 1000;

/**
 * Writes into the status of ValidatingAdmissionPolicies what their types have against their rules. A genuine cluster has a
 * controller for it; here the server does it itself, which has the types.
 */
export class PolicyStatus {
  private readonly due: DueNames;

  constructor(
    private readonly context: RegistryContext,
    followed: FollowedResources,
  ) {
    this.due = new DueNames({
      clock: context.clock,
      retryMs: RETRY_MS,
      look: (name) => this.write(name),
      failed: (name, error) => this.isToBeTriedAgain(name, error),
    });
    followed.of(POLICIES).onChange(({ name }, policy) => {
      if (policy && !isObserved(objectOfKind(policy))) this.due.add(name);
    });
  }

  /** Works until aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.due.run(signal);
  }

  private isToBeTriedAgain(name: string, error: unknown): boolean {
    // It was deleted, or is no longer valid and has to be changed first.
    if (error instanceof StatusError && [404, 422].includes(error.status.code)) return false;
    const problem = errorMessage(error);
    this.context.logger.warn('the status of an admission policy could not be written yet', {
      name,
      error: problem,
    });
    return true;
  }

  private async write(name: string): Promise<void> {
    const { kinds, schemas } = this.context;
    const kind = kinds.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies');
    if (!kind) return;
    const change = (current: Readonly<UnstructuredObject>): UnstructuredObject => {
      const policy: Policy = objectOfKind(cloneJson(current));
      // Another server may have been faster.
      if (isObserved(policy)) return policy;
      const expressionWarnings = checkPolicy(policy.spec ?? {}, kinds, schemas);
      policy.status = {
        ...policy.status,
        observedGeneration: Number(policy.metadata.generation),
        typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
      };
      return policy;
    };
    const options = { subresource: 'status', dryRun: false } as const;
    await updateObject(this.context, { kind, namespace: '', name }, change, options);
  }
}

function isObserved({ metadata, status }: Policy): boolean {
  return Number(status?.observedGeneration ?? 0) >= Number(metadata.generation ?? 0);
}
