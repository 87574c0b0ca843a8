import type { RuleWithOperations } from '@rollkeeper/machinery/types/admissionregistration-v1';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';
import type { Attributes } from '../attributes.js';
import type { Selection } from './webhook.js';

type ObjectMeta = UnstructuredObject['metadata'];
type Labels = Readonly<Record<string, string>> | undefined;

/** Admission configuration is exempt, or a bad webhook could never be removed. */
const EXEMPT = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
]);

/**
 * The kind in whose form a request is sent to a webhook or policy, or undefined if it does not match. Source:
 * pkg/admission/plugin/webhook/generic and its predicates in apiserver.
 * @param namespaceLabels of the request's namespace
 */
export function matchRequest(
  selection: Selection,
  attributes: Attributes,
  kinds: KindRegistry,
  namespaceLabels: (namespace: string) => Labels,
): KindDefinition | undefined {
  if (isExempt(attributes)) return undefined;
  const shown = shownKind(selection, attributes, kinds);
  if (!shown) return undefined;
  const { isForAllObjects, matchesNamespace, matchesObject } = selection;
  const isAnywhere =
    selection.isForAllNamespaces || (!attributes.kind.type.namespaced && !isNamespace(attributes));
  if (!isAnywhere && !matchesNamespace(labelsOfNamespace(attributes, namespaceLabels))) return undefined;
  if (isForAllObjects) return shown;
  const isMeant = [attributes.object, attributes.oldObject].some((object) => {
    const metadata = metadataOf(object);
    return metadata && matchesObject(metadata.labels ?? {});
  });
  return isMeant ? shown : undefined;
}

function isExempt({ kind }: Attributes): boolean {
  return kind.type.group === 'admissionregistration.k8s.io' && EXEMPT.has(kind.type.resource);
}

function shownKind(
  { excluded, isExact, rules }: Selection,
  attributes: Attributes,
  kinds: KindRegistry,
): KindDefinition | undefined {
  const isIn = (list: readonly RuleWithOperations[], kind: KindDefinition): boolean =>
    list.some((rule) => isMeantBy(rule, kind, attributes));
  const { kind } = attributes;
  const candidates = isExact ? [kind] : [kind, ...equivalentKinds(kind, kinds)];
  if (candidates.some((one) => isIn(excluded, one))) return undefined;
  return candidates.find((one) => isIn(rules, one));
}

/** Other versions and groups that serve the same objects. */
function equivalentKinds(kind: KindDefinition, kinds: KindRegistry): readonly KindDefinition[] {
  const stored = storedResource(kind);
  return kinds.kinds.filter((other) => other !== kind && storedResource(other) === stored);
}

function storedResource({ type, view }: KindDefinition): string {
  return view?.resource ?? qualifiedResource(type);
}

function isMeantBy(
  rule: RuleWithOperations,
  { type }: KindDefinition,
  { object, oldObject, operation, subresource, ...attributes }: Attributes,
): boolean {
  const {
    apiGroups = [],
    apiVersions = [],
    operations = [],
    resourceNames,
    resources = [],
    scope = '*',
  } = rule as RuleWithOperations & {
    readonly resourceNames?: readonly string[];
  };
  const name = attributes.name || metadataOf(object ?? oldObject)?.name || '';
  return (
    isListed(operations, operation) &&
    isListed(apiGroups, type.group) &&
    isListed(apiVersions, type.version) &&
    (scope === '*' || (scope === 'Namespaced') === type.namespaced) &&
    (!resourceNames?.length || resourceNames.includes(name)) &&
    resources.some((text) => {
      const [resource = '', part = ''] = text.split('/');
      return (resource === '*' || resource === type.resource) && (part === '*' || part === subresource);
    })
  );
}

/** Connection options have none. */
function metadataOf(object: Readonly<UnstructuredObject> | undefined): ObjectMeta | undefined {
  return object?.metadata;
}

function isListed(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

/** A namespace is matched by its own labels. */
function labelsOfNamespace(attributes: Attributes, labelsOf: (namespace: string) => Labels): Labels {
  if (!isNamespace(attributes)) return labelsOf(attributes.namespace);
  const own = attributes.object ?? attributes.oldObject;
  return own?.metadata.labels ?? {};
}

function isNamespace({ kind }: Attributes): boolean {
  return kind.type.kind === 'Namespace' && kind.type.group === '';
}
