/**
 * What a field holds. `int` and `bool` are dropped at their zero value, which the encoder writes for fields that
 * were never set; `int?` and `bool?` are pointers, where zero is a value.
 */
export type FieldShape =
  | 'string'
  | 'int'
  | 'int?'
  | 'bool'
  | 'bool?'
  | 'time'
  | 'intOrString'
  | 'quantity'
  | 'stringMap'
  | 'quantityMap'
  /** Read past: the server sets it itself. */
  | 'ignored'
  | { readonly message: MessageName };

export interface FieldLayout {
  readonly name: string;
  readonly shape: FieldShape;
  readonly repeated?: true;
}

export type MessageName = string;

type Layout = Readonly<Record<number, FieldLayout>>;

const field = (name: string, shape: FieldShape): FieldLayout => ({ name, shape });
const list = (name: string, shape: FieldShape): FieldLayout => ({ name, shape, repeated: true });
const message = (name: string): FieldShape => ({ message: name });

/**
 * The field numbers of the Kubernetes API's protobuf encoding, for what kubectl's typed commands send
 * (`create namespace`, `create deployment`, `create serviceaccount`, `run`, `auth`, `delete`, `drain`) and for reviews. Numbers are
 * part of the published API and never change.
 */
const layouts = {
  ObjectMeta: {
    1: field('name', 'string'),
    2: field('generateName', 'string'),
    3: field('namespace', 'string'),
    4: field('selfLink', 'ignored'),
    5: field('uid', 'string'),
    6: field('resourceVersion', 'string'),
    7: field('generation', 'int'),
    8: field('creationTimestamp', 'time'),
    9: field('deletionTimestamp', 'time'),
    10: field('deletionGracePeriodSeconds', 'int?'),
    11: field('labels', 'stringMap'),
    12: field('annotations', 'stringMap'),
    13: list('ownerReferences', message('OwnerReference')),
    14: list('finalizers', 'string'),
    15: field('clusterName', 'ignored'),
    17: field('managedFields', 'ignored'),
  },
  OwnerReference: {
    1: field('kind', 'string'),
    3: field('name', 'string'),
    4: field('uid', 'string'),
    5: field('apiVersion', 'string'),
    6: field('controller', 'bool?'),
    7: field('blockOwnerDeletion', 'bool?'),
  },
  LabelSelector: {
    1: field('matchLabels', 'stringMap'),
    2: list('matchExpressions', message('LabelSelectorRequirement')),
  },
  LabelSelectorRequirement: {
    1: field('key', 'string'),
    2: field('operator', 'string'),
    3: list('values', 'string'),
  },
  DeleteOptions: {
    1: field('gracePeriodSeconds', 'int?'),
    2: field('preconditions', message('Preconditions')),
    3: field('orphanDependents', 'bool?'),
    4: field('propagationPolicy', 'string'),
    5: list('dryRun', 'string'),
  },
  Eviction: {
    1: field('metadata', message('ObjectMeta')),
    2: field('deleteOptions', message('DeleteOptions')),
  },
  Preconditions: { 1: field('uid', 'string'), 2: field('resourceVersion', 'string') },
  Namespace: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('NamespaceSpec')),
    3: field('status', 'ignored'),
  },
  NamespaceSpec: { 1: list('finalizers', 'string') },
  ServiceAccount: {
    1: field('metadata', message('ObjectMeta')),
    4: field('automountServiceAccountToken', 'bool?'),
  },
  Deployment: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('DeploymentSpec')),
    3: field('status', 'ignored'),
  },
  DeploymentSpec: {
    1: field('replicas', 'int?'),
    2: field('selector', message('LabelSelector')),
    3: field('template', message('PodTemplateSpec')),
    4: field('strategy', message('DeploymentStrategy')),
    5: field('minReadySeconds', 'int'),
    6: field('revisionHistoryLimit', 'int?'),
    7: field('paused', 'bool'),
    9: field('progressDeadlineSeconds', 'int?'),
  },
  DeploymentStrategy: {
    1: field('type', 'string'),
    2: field('rollingUpdate', message('RollingUpdateDeployment')),
  },
  RollingUpdateDeployment: {
    1: field('maxUnavailable', 'intOrString'),
    2: field('maxSurge', 'intOrString'),
  },
  PodTemplateSpec: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('PodSpec')),
  },
  Pod: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('PodSpec')),
    3: field('status', 'ignored'),
  },
  PodSpec: {
    2: list('containers', message('Container')),
    3: field('restartPolicy', 'string'),
    4: field('terminationGracePeriodSeconds', 'int?'),
    5: field('activeDeadlineSeconds', 'int?'),
    6: field('dnsPolicy', 'string'),
    7: field('nodeSelector', 'stringMap'),
    8: field('serviceAccountName', 'string'),
    9: field('serviceAccount', 'string'),
    10: field('nodeName', 'string'),
    11: field('hostNetwork', 'bool'),
    12: field('hostPID', 'bool'),
    13: field('hostIPC', 'bool'),
    14: field('securityContext', message('Empty')),
    16: field('hostname', 'string'),
    17: field('subdomain', 'string'),
    19: field('schedulerName', 'string'),
    20: list('initContainers', message('Container')),
    21: field('automountServiceAccountToken', 'bool?'),
    24: field('priorityClassName', 'string'),
    25: field('priority', 'int?'),
    27: field('shareProcessNamespace', 'bool?'),
    29: field('runtimeClassName', 'string'),
    30: field('enableServiceLinks', 'bool?'),
  },
  Container: {
    1: field('name', 'string'),
    2: field('image', 'string'),
    3: list('command', 'string'),
    4: list('args', 'string'),
    5: field('workingDir', 'string'),
    6: list('ports', message('ContainerPort')),
    7: list('env', message('EnvVar')),
    8: field('resources', message('ResourceRequirements')),
    13: field('terminationMessagePath', 'string'),
    14: field('imagePullPolicy', 'string'),
    15: field('securityContext', message('Empty')),
    16: field('stdin', 'bool'),
    17: field('stdinOnce', 'bool'),
    18: field('tty', 'bool'),
    20: field('terminationMessagePolicy', 'string'),
  },
  ContainerPort: {
    1: field('name', 'string'),
    2: field('hostPort', 'int'),
    3: field('containerPort', 'int'),
    4: field('protocol', 'string'),
    5: field('hostIP', 'string'),
  },
  EnvVar: { 1: field('name', 'string'), 2: field('value', 'string') },
  ResourceRequirements: { 1: field('limits', 'quantityMap'), 2: field('requests', 'quantityMap') },
  /** Stands for a message of which only the empty one is understood. */
  Empty: {},
  SelfSubjectAccessReview: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('SelfSubjectAccessReviewSpec')),
    3: field('status', 'ignored'),
  },
  SelfSubjectAccessReviewSpec: {
    1: field('resourceAttributes', message('ResourceAttributes')),
    2: field('nonResourceAttributes', message('NonResourceAttributes')),
  },
  SubjectAccessReview: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('SubjectAccessReviewSpec')),
    3: field('status', 'ignored'),
  },
  LocalSubjectAccessReview: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('SubjectAccessReviewSpec')),
    3: field('status', 'ignored'),
  },
  SubjectAccessReviewSpec: {
    1: field('resourceAttributes', message('ResourceAttributes')),
    2: field('nonResourceAttributes', message('NonResourceAttributes')),
    3: field('user', 'string'),
    4: list('groups', 'string'),
    6: field('uid', 'string'),
  },
  SelfSubjectRulesReview: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('SelfSubjectRulesReviewSpec')),
    3: field('status', 'ignored'),
  },
  SelfSubjectRulesReviewSpec: { 1: field('namespace', 'string') },
  SelfSubjectReview: { 1: field('metadata', message('ObjectMeta')), 2: field('status', 'ignored') },
  TokenReview: {
    1: field('metadata', message('ObjectMeta')),
    2: field('spec', message('TokenReviewSpec')),
    3: field('status', 'ignored'),
  },
  TokenReviewSpec: { 1: field('token', 'string'), 2: list('audiences', 'string') },
  ResourceAttributes: {
    1: field('namespace', 'string'),
    2: field('verb', 'string'),
    3: field('group', 'string'),
    4: field('version', 'string'),
    5: field('resource', 'string'),
    6: field('subresource', 'string'),
    7: field('name', 'string'),
  },
  NonResourceAttributes: { 1: field('path', 'string'), 2: field('verb', 'string') },
} satisfies Record<string, Layout>;

/** The layout of a message, or nothing when we have not got it. */
export function layoutOf(name: string): Layout | undefined {
  return Object.hasOwn(layouts, name) ? layouts[name as keyof typeof layouts] : undefined;
}
