/**
 * The field numbers of messages that no published program describes: those of apiextensions.k8s.io and
 * apiregistration.k8s.io. Source: the `generated.proto` files of k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator.
 */
const listed = (...names) => Object.fromEntries(names.map((name, index) => [index + 1, name]));

const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const REGISTRATION = 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1';

const extensions = {
  CustomResourceColumnDefinition: listed('name', 'type', 'format', 'description', 'priority', 'jsonPath'),
  CustomResourceConversion: listed('strategy', 'webhook'),
  CustomResourceDefinition: listed('metadata', 'spec', 'status'),
  CustomResourceDefinitionCondition: listed(
    ...['type', 'status', 'lastTransitionTime', 'reason', 'message', 'observedGeneration'],
  ),
  CustomResourceDefinitionNames: listed('plural', 'singular', 'shortNames', 'kind', 'listKind', 'categories'),
  CustomResourceDefinitionSpec: {
    ...{ 1: 'group', 3: 'names', 4: 'scope', 7: 'versions', 9: 'conversion' },
    10: 'preserveUnknownFields',
  },
  CustomResourceDefinitionStatus: listed(
    'conditions',
    'acceptedNames',
    'storedVersions',
    'observedGeneration',
  ),
  CustomResourceDefinitionVersion: listed(
    ...['name', 'served', 'storage', 'schema', 'subresources', 'additionalPrinterColumns'],
    ...['deprecated', 'deprecationWarning', 'selectableFields'],
  ),
  CustomResourceSubresourceScale: listed('specReplicasPath', 'statusReplicasPath', 'labelSelectorPath'),
  CustomResourceSubresourceStatus: {},
  CustomResourceSubresources: listed('status', 'scale'),
  CustomResourceValidation: listed('openAPIV3Schema'),
  ExternalDocumentation: listed('description', 'url'),
  JSONSchemaProps: listed(
    ...['id', '$schema', '$ref', 'description', 'type', 'format', 'title', 'default', 'maximum'],
    ...['exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems'],
    ...['minItems', 'uniqueItems', 'multipleOf', 'enum', 'maxProperties', 'minProperties', 'required'],
    ...['items', 'allOf', 'oneOf', 'anyOf', 'not', 'properties', 'additionalProperties', 'patternProperties'],
    ...['dependencies', 'additionalItems', 'definitions', 'externalDocs', 'example', 'nullable'],
    ...['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'],
    ...['x-kubernetes-int-or-string', 'x-kubernetes-list-map-keys', 'x-kubernetes-list-type'],
    ...['x-kubernetes-map-type', 'x-kubernetes-validations'],
  ),
  SelectableField: listed('jsonPath'),
  ServiceReference: listed('namespace', 'name', 'path', 'port'),
  ValidationRule: listed('rule', 'message', 'messageExpression', 'reason', 'fieldPath', 'optionalOldSelf'),
  WebhookClientConfig: listed('service', 'caBundle', 'url'),
  WebhookConversion: { 2: 'clientConfig', 3: 'conversionReviewVersions' },
};

const registration = {
  APIService: listed('metadata', 'spec', 'status'),
  APIServiceCondition: listed('type', 'status', 'lastTransitionTime', 'reason', 'message'),
  APIServiceSpec: {
    ...{ 1: 'service', 2: 'group', 3: 'version', 4: 'insecureSkipTLSVerify', 5: 'caBundle' },
    ...{ 7: 'groupPriorityMinimum', 8: 'versionPriority' },
  },
  APIServiceStatus: listed('conditions'),
  ServiceReference: listed('namespace', 'name', 'port'),
};

const named = (group, messages) =>
  Object.entries(messages).map(([name, layout]) => [`${group}.${name}`, layout]);

/** The number of a field that is newer than the program from which the layouts are read. */
export const ADDED_FIELDS = { 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta': { 5: 'shardInfo' } };

/** By the name of the schema. */
export const MORE_LAYOUTS = Object.fromEntries([
  ...named('io.k8s.apimachinery.pkg.apis.meta.v1', { ShardInfo: listed('selector') }),
  ...named(EXTENSIONS, extensions),
  ...named(REGISTRATION, registration),
]);

/** Messages that were described under an earlier version of their group, and are the same. */
export const FORMER_PACKAGES = {
  'io.k8s.api.admissionregistration.v1': 'io.k8s.api.admissionregistration.v1beta1',
};
