import type { RuntimeClass as IRuntimeClass } from '@rollkeeper/machinery/types/node-v1';
import type { Amounts, Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';
import type { FollowedObjects } from '../../storage/index.js';

export type RuntimeClass = DecodedObject<IRuntimeClass>;

type Toleration = Decoded<NonNullable<PodSpec['tolerations']>[number]>;

const OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const OWN_OVERHEAD = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

/**
 * Gives a new pod what its runtime class takes beside the containers, and the nodes that have the runtime. Source: the plug-in
 * RuntimeClass.
 * @throws StatusError 403
 */
export async function admitRuntimeClass(
  attributes: WriteAttributes,
  classes: FollowedObjects<RuntimeClass>,
): Promise<void> {
  const pod = attributes.object as unknown as DecodedObject<Pod>;
  const spec = (pod.spec ??= {});
  const found = await classOf(attributes, spec, classes);
  const { overhead, scheduling } = found ?? {};
  if (overhead) {
    if (spec.overhead && !isSameOverhead(overhead.podFixed, spec.overhead))
      throw refused(attributes, OTHER_OVERHEAD);
    if (overhead.podFixed) spec.overhead = { ...overhead.podFixed };
  }
  if (!scheduling) return;
  const { nodeSelector: own = {} } = spec;
  const wanted = scheduling.nodeSelector ?? {};
  for (const [key, value] of Object.entries(wanted))
    if (own[key] !== undefined && own[key] !== value)
      throw refused(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
      );
  const nodeSelector = { ...own, ...wanted };
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = nodeSelector;
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

/**
 * A pod asks for no other overhead than that of its class, also after webhooks have changed it.
 * @throws StatusError 403
 */
export async function checkOverhead(
  attributes: WriteAttributes,
  classes: FollowedObjects<RuntimeClass>,
): Promise<void> {
  const { spec = {} } = attributes.object as unknown as DecodedObject<Pod>;
  const found = await classOf(attributes, spec, classes);
  if (!found?.overhead) {
    if (spec.overhead) throw refused(attributes, OWN_OVERHEAD);
    return;
  }
  if (!isSameOverhead(found.overhead.podFixed, spec.overhead)) throw refused(attributes, OTHER_OVERHEAD);
}

async function classOf(
  attributes: WriteAttributes,
  { runtimeClassName: name }: Decoded<PodSpec>,
  classes: FollowedObjects<RuntimeClass>,
): Promise<Readonly<RuntimeClass> | undefined> {
  if (name === undefined) return undefined;
  const found = classes.get('', name) ?? (await classes.lookUp('', name));
  if (!found) throw refused(attributes, `pod rejected: RuntimeClass "${name}" not found`);
  return found;
}

/** Equal as quantities: `1000m` is `1`. */
function isSameOverhead(a: Readonly<Amounts> = {}, b: Readonly<Amounts> = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(
    (name) => a[name] !== undefined && b[name] !== undefined && nanosOf(a[name]) === nanosOf(b[name]),
  );
}

/** The class's first; of two for the same taint, the class's. */
function mergeTolerations(own: readonly Toleration[], added: readonly Toleration[]): Toleration[] {
  const taintOf = ({ effect = '', key = '' }: Toleration): string => `${key}:${effect}`;
  const taken = new Set(added.map(taintOf));
  const further = new Map(own.map((toleration) => [taintOf(toleration), toleration]));
  return [...added, ...[...further.values()].filter((toleration) => !taken.has(taintOf(toleration)))];
}
