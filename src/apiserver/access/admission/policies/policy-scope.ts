import type {
  MatchResources,
  ParamKind,
  ParamRef,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { compileLabelSelector, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, KubernetesObject, Namespace } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';
import type { FollowedObjects, Storage } from '../../../storage/index.js';
import type { Attributes } from '../attributes.js';
import { authorizerFor } from '../request-authority.js';
import type { AccessDecider } from '../request-authority.js';
import type { RequestValues } from '../request-expressions.js';
import { reviewRequest } from '../webhooks/admission-review.js';
import type { Conversion } from '../webhooks/admission-review.js';
import { matchRequest } from '../webhooks/match-request.js';
import { compileSelection } from '../webhooks/webhook.js';
import type { Selection } from '../webhooks/webhook.js';

export interface ScopeKnowledge {
  readonly namespaces: FollowedObjects<Namespace>;
  readonly kinds: KindRegistry;
  readonly storage: Storage;
  readonly access: AccessDecider;
  readonly convert: Conversion;
}

/** A binding of either sort of policy. */
interface AnyBinding extends KubernetesObject {
  readonly spec: { readonly matchResources?: MatchResources };
}

/** A binding's parameters cannot be found, or the object cannot be converted for the policy. */
export class ConfigurationError extends Error {}

/** Decides which requests a policy is for, and what its expressions are given. */
export class PolicyScope {
  private readonly selections = new WeakMap<object, Selection>();

  constructor(private readonly known: ScopeKnowledge) {}

  private readonly labelsOf = (namespace: string) =>
    this.known.namespaces.get('', namespace)?.metadata.labels ?? {};

  /** @returns undefined if the request does not match */
  shownTo(
    selection: Selection,
    attributes: Attributes,
    binding?: Readonly<AnyBinding>,
  ): KindDefinition | undefined {
    const { kinds } = this.known;
    const shown = matchRequest(selection, attributes, kinds, this.labelsOf);
    const own = binding && this.selectionOf(binding);
    return own && !matchRequest(own, attributes, kinds, this.labelsOf) ? undefined : shown;
  }

  async valuesOf(attributes: Attributes, shown: KindDefinition, convert: Conversion): Promise<RequestValues> {
    const { object, oldObject, ...request } = await this.converted(attributes, shown, convert);
    const namespaceObject = this.known.namespaces.get('', attributes.namespace) ?? null;
    const authorizer = authorizerFor(attributes, this.known.access);
    return { object, oldObject, request, namespaceObject, authorizer };
  }

  /** @throws ConfigurationError */
  private async converted(...args: Parameters<typeof reviewRequest>): ReturnType<typeof reviewRequest> {
    try {
      return await reviewRequest(...args);
    } catch (error) {
      throw new ConfigurationError(`failed to convert object version: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  /** A binding without rules matches everything that its policy does, within its selectors. */
  selectionOf(binding: Readonly<AnyBinding>): Selection | undefined {
    const said = binding.spec.matchResources;
    if (!said) return undefined;
    const anything = [
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*' as const], resources: ['*/*', '*'] },
    ];
    const known =
      this.selections.get(binding) ??
      compileSelection({ ...said, resourceRules: said.resourceRules ?? anything });
    this.selections.set(binding, known);
    return known;
  }

  /** The parameter objects for the policy, one after another; `null` without parameters. */
  async paramsOf(
    paramKind: Decoded<ParamKind> | undefined,
    { paramRef: ref }: { readonly paramRef?: ParamRef },
    requestNamespace: string,
  ): Promise<readonly unknown[]> {
    if (!paramKind || !ref) return [null];
    const { apiVersion = '', kind: word = '' } = paramKind;
    const kind = this.known.kinds.findByKind(apiVersion, word);
    if (!kind)
      throw new ConfigurationError(
        `failed to find resource referenced by paramKind: '${apiVersion}, Kind=${word}'`,
      );
    const namespace = kind.type.namespaced ? ref.namespace || requestNamespace : '';
    if (kind.type.namespaced && namespace === '')
      throw new ConfigurationError(
        'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
      );
    const resource = qualifiedResource(kind.type);
    const found = ref.name
      ? [await this.known.storage.get({ resource, namespace, name: ref.name })]
      : (await this.known.storage.list(resource, { namespace })).items;
    const isSelected = ref.name ? () => true : compileLabelSelector(ref.selector ?? {});
    const params = found.flatMap((one) =>
      one && isSelected(one.object.metadata.labels) ? [one.object] : [],
    );
    if (params.length === 0 && ref.parameterNotFoundAction !== 'Allow')
      throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
    return params;
  }
}
