import type {
  Decoded,
  EvictionResponder,
  PodSpec,
  WithEvictionResponders,
} from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { validateOwnKey } from '../validation/domain-prefixed-key.js';
import { duplicate, forbidden, invalid, required, tooMany } from '../validation/field-errors.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

const MOST = 10;
const LOWEST_OWN = 1000;
const HIGHEST = 100_000;

/**
 * The responders of a pod; servers with the feature gate off have no such field. Source: the marks of EvictionResponder in
 * k8s.io/api/core/v1.
 */
export function validateEvictionResponders(
  spec: Decoded<PodSpec> & Decoded<WithEvictionResponders>,
  path: string,
  errors: FieldError[],
): void {
  const { evictionResponders: responders, schedulingGroup } = spec;
  if (!responders) return;
  const at = `${path}.evictionResponders`;
  if (schedulingGroup) errors.push(forbidden(at, 'may not be set when schedulingGroup is set'));
  if (responders.length > MOST) {
    errors.push(tooMany(at, responders.length, MOST));
    return;
  }
  const repeated = repeatedPlaces(responders.map(({ name }) => name));
  responders.forEach((responder, index) => {
    if (repeated.has(index)) errors.push(duplicate(`${at}[${index}]`, { name: responder.name }));
    else validateOwnKey(responder.name ?? '', `${at}[${index}].name`, errors);
    validatePriority(responder, `${at}[${index}].priority`, errors);
  });
}

function validatePriority({ priority }: Decoded<EvictionResponder>, at: string, errors: FieldError[]): void {
  if (priority === undefined) errors.push(required(at));
  else if (priority > HIGHEST) errors.push(invalid(at, priority, `must be less than or equal to ${HIGHEST}`));
  else if (priority < 0) errors.push(invalid(at, priority, 'must be greater than or equal to 0'));
  else if (priority < LOWEST_OWN)
    errors.push(invalid(at, priority, 'the interval 0-999 is reserved for responders with *.k8s.io suffix'));
}
