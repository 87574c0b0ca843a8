import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { AllocatedDevice, ReadableClaim } from './resource-api.js';

/** Whether the devices of a claim are prepared for its node, as their drivers report it. */
type BindingState = { readonly is: 'ready' | 'waiting' } | { readonly is: 'failed'; readonly why: string };

const READY: BindingState = { is: 'ready' };
const WAITING: BindingState = { is: 'waiting' };

/** Source: isClaimReadyForBinding in k/k pkg/scheduler/framework/plugins/dynamicresources. */
export function bindingStateOf(claim: ReadableClaim): BindingState {
  const { allocation } = claim.status ?? {};
  if (!allocation) return WAITING;
  const { name } = claim.metadata;
  for (const device of conditionedDevices(claim)) {
    const { conditions = [] } = statusOf(claim, device) ?? {};
    const isTrue = (type: string): boolean =>
      conditions.some((each) => each.type === type && each.status === 'True');
    const failure = device.bindingFailureConditions?.find(isTrue);
    if (failure !== undefined) {
      const { message = '', reason = '' } = findCondition(conditions, failure) ?? {};
      return {
        is: 'failed',
        why: `claim=${name}, reason=${reason}, message=${JSON.stringify(message)}`,
      };
    }
    if (!(device.bindingConditions ?? []).every(isTrue)) return WAITING;
  }
  return READY;
}

/** Whether any device of the claim has to be prepared before a pod is bound. */
export function hasBindingConditions(claim: ReadableClaim): boolean {
  return conditionedDevices(claim).length > 0;
}

/** Whether the devices of a claim have had their time to be prepared. */
export function isBindingOverdue(claim: ReadableClaim, nowMs: number, timeoutMs: number): boolean {
  const { allocationTimestamp } = claim.status?.allocation ?? {};
  if (allocationTimestamp === undefined || !hasBindingConditions(claim)) return false;
  return Date.parse(allocationTimestamp) + timeoutMs < nowMs;
}

function conditionedDevices({ status }: ReadableClaim): readonly AllocatedDevice[] {
  return (status?.allocation?.devices?.results ?? []).filter(
    ({ bindingConditions = [] }) => bindingConditions.length > 0,
  );
}

function statusOf({ status }: ReadableClaim, { device, driver, pool }: AllocatedDevice) {
  return status?.devices?.find(
    (each) => each.device === device && each.driver === driver && each.pool === pool,
  );
}
