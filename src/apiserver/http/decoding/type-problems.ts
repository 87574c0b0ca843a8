import { apiVersionOf, goQuote } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';

/** The type of an object, as it calls itself. */
export interface NamedType {
  readonly apiVersion?: string;
  readonly kind?: string;
}

type Type = Pick<ResourceType, 'group' | 'kind' | 'version'>;

/** The groups of types that a genuine server has registered together, by which it names its registries in messages. */
const REGISTRIES: Readonly<Record<string, string>> = {
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
};
const MAIN_REGISTRY = 'pkg/api/legacyscheme/scheme.go:30';
const OPTIONS_REGISTRY = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27';

/** `no kind "X" is registered for version "v1" in scheme "…"`: of what group a body was meant to be decides the registry. */
export function notRegistered({ apiVersion = '', kind = '' }: NamedType, group: string): string {
  return absent(kind, apiVersion, REGISTRIES[group] ?? MAIN_REGISTRY);
}

/** The same of options, which every group of the API knows under its own version. */
export function notRegisteredOptions({ apiVersion = '', kind = '' }: NamedType): string {
  return absent(kind, apiVersion, OPTIONS_REGISTRY);
}

function absent(kind: string, apiVersion: string, registry: string): string {
  return `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(registry)}`;
}

/**
 * Why an object that calls itself something else cannot be read as `expected`.
 * @param isKnown whether the type that it names exists
 */
export function typeProblem(named: NamedType, expected: Type, isKnown: boolean): string {
  const apiVersion = named.apiVersion || apiVersionOf(expected);
  const kind = named.kind || expected.kind;
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  const problem = isKnown
    ? `converting (${version}.${kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`
    : notRegistered({ apiVersion, kind }, expected.group);
  return `${kind} in version ${goQuote(version)} cannot be handled as a ${expected.kind}: ${problem}`;
}

/** The Go package of a group's own types. */
function internalPackage(group: string): string {
  return group === '' || group === 'events.k8s.io' ? 'core' : group.slice(0, (group + '.').indexOf('.'));
}
