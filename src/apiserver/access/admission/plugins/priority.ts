import type { PriorityClass as IPriorityClass } from '@rollkeeper/machinery/types/scheduling-v1';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, Pod } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';

export type PriorityClass = DecodedObject<IPriorityClass>;

const DEFAULT_POLICY = 'PreemptLowerPriority';

/**
 * Gives a pod the priority of its class. A pod cannot set its own priority. Source: the plug-in Priority of
 * kube-apiserver.
 * @throws StatusError 403
 */
export function admitPodPriority(
  attributes: WriteAttributes,
  classes: {
    get(name: string): Readonly<PriorityClass> | undefined;
    list(): readonly Readonly<PriorityClass>[];
  },
): void {
  const pod: DecodedObject<Pod> = objectOfKind(attributes.object);
  if (attributes.oldObject) return keepPriority(pod, objectOfKind(attributes.oldObject));
  const spec = (pod.spec ??= {});
  const name = spec.priorityClassName ?? '';
  const chosen = name === '' ? defaultOf(classes.list()) : classes.get(name);
  if (!chosen && name !== '') throw refused(attributes, `no PriorityClass with name ${name} was found`);
  const priority = chosen?.value ?? 0;
  const policy = chosen?.preemptionPolicy ?? DEFAULT_POLICY;
  if (spec.priority !== undefined && spec.priority !== priority)
    throw refused(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw refused(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  if (chosen) spec.priorityClassName = chosen.metadata.name;
  spec.priority = priority;
  spec.preemptionPolicy = policy;
}

/** Only one class may be the global default. @throws StatusError 403 */
export function checkDefaultClass(
  attributes: WriteAttributes,
  classes: readonly Readonly<PriorityClass>[],
): void {
  const { object } = attributes;
  if (!objectOfKind<PriorityClass>(object).globalDefault) return;
  const other = classes.find(
    ({ globalDefault, metadata }) => globalDefault && metadata.name !== object.metadata.name,
  );
  if (!other) return;
  throw refused(
    attributes,
    `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
  );
}

/** An update without a priority keeps it. */
function keepPriority(pod: DecodedObject<Pod>, { spec: old = {} }: Readonly<DecodedObject<Pod>>): void {
  const { spec = {} } = pod;
  const isMissing = spec.priority === undefined || spec.preemptionPolicy === undefined;
  if (!isMissing || (old.priority === undefined && old.preemptionPolicy === undefined)) return;
  const { priority = old.priority, preemptionPolicy = old.preemptionPolicy } = spec;
  pod.spec = {
    ...spec,
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  };
}

function defaultOf(classes: readonly Readonly<PriorityClass>[]): Readonly<PriorityClass> | undefined {
  return classes
    .filter(({ globalDefault }) => globalDefault)
    .reduce<Readonly<PriorityClass> | undefined>(
      (least, each) => (least && (least.value ?? 0) <= (each.value ?? 0) ? least : each),
      undefined,
    );
}
