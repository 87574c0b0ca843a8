import type { Clock } from '@rollkeeper/machinery/clock';
import type { Container } from '@rollkeeper/machinery/types/core-v1';
import type {
  Decoded,
  DecodedObject,
  KubernetesObject,
  Namespace,
  Pod,
  PodSpec,
} from '@rollkeeper/machinery/kubernetes';
import { objectOfKind, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { internalError, invalid } from '../../../schema/errors/index.js';
import type { FollowedObjects, Storage } from '../../../storage/index.js';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';
import type { CheckedPod } from './check.js';
import { allContainers } from './check.js';
import { describeViolations, violationsOf } from './evaluate-pod.js';
import { describeLevel, isSameLevel, isStricter, namespacePolicyOf } from './namespace-policy.js';
import type { LevelVersion, NamespacePolicy } from './namespace-policy.js';
import { warningsOfNewLevel } from './pods-in-namespace.js';

export interface PodSecurityKnowledge {
  readonly namespaces: FollowedObjects<Namespace>;
  readonly storage: Pick<Storage, 'list'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A pod's template somewhere in an object. */
interface TemplateHolder {
  /** Qualified: `deployments.apps`. */
  readonly resource: string;
  templateOf(object: WriteAttributes['object']): PodTemplate | undefined;
}

type PodTemplate = Decoded<{
  readonly metadata?: { readonly annotations?: Record<string, string> };
  readonly spec?: PodSpec;
}>;

interface Templated extends KubernetesObject {
  readonly template?: PodTemplate;
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
  };
}

/** The built-in kinds that make pods. */
export const TEMPLATE_HOLDERS: readonly TemplateHolder[] = [
  ...[
    'replicationcontrollers',
    'replicasets.apps',
    'deployments.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
  ].map((resource) => ({
    resource,
    templateOf: (object: WriteAttributes['object']) => objectOfKind<Templated>(object).spec?.template,
  })),
  {
    resource: 'cronjobs.batch',
    templateOf: (object) => objectOfKind<Templated>(object).spec?.jobTemplate?.spec?.template,
  },
  { resource: 'podtemplates', templateOf: (object) => objectOfKind<Templated>(object).template },
];

/**
 * Holds a pod against the levels of its namespace. Source: the plug-in PodSecurity, with its default configuration: what a namespace
 * does not ask for is allowed, and nothing is exempt.
 * @throws StatusError 403
 */
export async function checkPod(attributes: WriteAttributes, known: PodSecurityKnowledge): Promise<void> {
  const policy = await policyFor(attributes, known);
  const { audit, enforce, problems, warn } = policy;
  if (problems.length === 0 && [audit, enforce, warn].every(({ level }) => level === 'privileged')) return;
  const { object, oldObject, operation } = attributes;
  const pod: DecodedObject<Pod> = objectOfKind(object);
  if (operation === 'UPDATE' && oldObject && !hasNewImages(pod, objectOfKind(oldObject))) return;
  const checked = { annotations: pod.metadata.annotations ?? {}, spec: pod.spec ?? {} };
  const violation = violationText(enforce, checked);
  reportAudit(attributes, policy, checked, known.logger);
  if (violation !== undefined) throw refused(attributes, `violates ${violation}`);
  warnOf(attributes, warn, checked);
}

/** Warns of what the pods of a template will violate. They themselves are refused, not the template. */
export async function checkTemplate(
  attributes: WriteAttributes,
  holder: TemplateHolder,
  known: PodSecurityKnowledge,
): Promise<void> {
  const policy = await policyFor(attributes, known);
  const { audit, problems, warn } = policy;
  if (problems.length === 0 && [audit, warn].every(({ level }) => level === 'privileged')) return;
  const template = holder.templateOf(attributes.object);
  if (!template) return;
  const checked = { annotations: template.metadata?.annotations ?? {}, spec: template.spec ?? {} };
  reportAudit(attributes, policy, checked, known.logger);
  warnOf(attributes, warn, checked);
}

/**
 * Refuses labels that cannot be read, and warns of the pods that break a stricter level.
 * @throws StatusError 422
 */
export async function checkNamespace(
  attributes: WriteAttributes,
  known: PodSecurityKnowledge,
): Promise<void> {
  const { kind, name, object, oldObject, operation } = attributes;
  const policy = namespacePolicyOf(object.metadata.labels);
  const old = oldObject && namespacePolicyOf(oldObject.metadata.labels);
  const isNewProblem = !sameJson(policy.problems, old?.problems ?? []);
  if (policy.problems.length > 0 && isNewProblem)
    throw invalid(kind.type, object.metadata.name || name, [...policy.problems]);
  if (operation !== 'UPDATE' || !old) return;
  const { enforce } = policy;
  if (isSameLevel(enforce, old.enforce) || enforce.level === 'privileged') return;
  if (enforce.minor === old.enforce.minor && !isStricter(enforce, old.enforce)) return;
  for (const warning of await warningsOfNewLevel(name, enforce, known)) attributes.caller.warn(warning);
}

async function policyFor(
  { namespace }: WriteAttributes,
  { namespaces }: PodSecurityKnowledge,
): Promise<NamespacePolicy> {
  const found = namespaces.get('', namespace) ?? (await namespaces.lookUp('', namespace));
  if (!found) throw internalError(`failed to lookup namespace "${namespace}"`);
  return namespacePolicyOf(found.metadata.labels);
}

/** Only new images and new containers matter among the changes that an update of a pod may make. */
function hasNewImages(pod: DecodedObject<Pod>, old: DecodedObject<Pod>): boolean {
  const counts = (['containers', 'initContainers'] as const).map(
    (list) => (pod.spec?.[list]?.length ?? 0) !== (old.spec?.[list]?.length ?? 0),
  );
  if (counts.includes(true)) return true;
  const images = new Map(allContainers(old.spec ?? {}).map(({ image, name }) => [name, image]));
  return allContainers(pod.spec ?? {}).some(
    ({ image, name }: Decoded<Container>) => !images.has(name) || images.get(name) !== image,
  );
}

/** `PodSecurity "restricted:latest": …`; undefined if the pod meets the level. */
function violationText(asked: LevelVersion, pod: CheckedPod): string | undefined {
  const violations = violationsOf(asked, pod);
  if (violations.length === 0) return undefined;
  return `PodSecurity "${describeLevel(asked)}": ${describeViolations(violations)}`;
}

function warnOf({ caller }: WriteAttributes, warn: LevelVersion, pod: CheckedPod): void {
  const violation = violationText(warn, pod);
  if (violation !== undefined) caller.warn(`would violate ${violation}`);
}

/** There is no audit log: what it would have is in the log of the server. */
function reportAudit(
  { caller, kind, name, namespace }: WriteAttributes,
  { audit, problems }: NamespacePolicy,
  pod: CheckedPod,
  logger: Logger,
): void {
  const fields = { user: caller.user.username, resource: kind.type.resource, namespace, name };
  const report = (key: string, value: string): void =>
    logger.info('audit annotation', { key: `pod-security.kubernetes.io/${key}`, value, ...fields });
  const failed = problems.map(({ field, message }) => `${field}: ${message}`);
  if (failed.length > 0)
    report('error', `Failed to parse policy: ${failed.length === 1 ? failed[0] : `[${failed.join(', ')}]`}`);
  const violation = violationText(audit, pod);
  if (violation !== undefined) report('audit-violations', `would violate ${violation}`);
}
