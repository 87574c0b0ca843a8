import type { DeepReadonly, Kind, KubernetesObject, Logger } from '@rollkeeper/runtime';
import { InvalidOptionError } from '@rollkeeper/runtime';
import type { Span } from '@opentelemetry/api';

/** The user of the request, as the API server has authenticated them. */
export interface RequestUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The operation of a request on its object. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE';

/** The facts that a webhook gets of the request that it is asked about. */
export interface AdmissionRequest<T extends KubernetesObject> {
  readonly operation: AdmissionOperation;
  /** The object before the request; undefined at a creation. */
  readonly old: DeepReadonly<T> | undefined;
  /** Empty at a creation for which the server makes the name. */
  readonly name: string;
  /** Undefined: the kind has no namespaces. */
  readonly namespace: string | undefined;
  readonly user: RequestUser;
  /** The server stores nothing: do nothing outside of the request either. */
  readonly dryRun: boolean;
  /** `CreateOptions`, `UpdateOptions` or `DeleteOptions`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Shown to the client that made the request, as kubectl shows warnings. */
  readonly warn: (text: string) => void;
  /** Aborts when the API server does not wait for the answer any more. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly span: Span;
}

/** One field that cannot be as it is. */
export interface FieldProblem {
  /** `spec.replicas` */
  readonly field: string;
  readonly message: string;
}

/** A refusal with a code of its own: 429, for example, makes a client try again. */
export interface RefusedWith {
  /** 400 to 599. */
  readonly code: number;
  /** @default the one that Kubernetes has for the code */
  readonly reason?: string;
  readonly message: string;
}

/**
 * Nothing: the request may proceed. A text: it is forbidden, and why (403). Fields: the object is invalid (422), which
 * clients show field by field. A code: any other refusal.
 */
export type Verdict = void | undefined | string | FieldProblem | readonly FieldProblem[] | RefusedWith;

/** Converts between the stored version of a kind and another one: see {@link spoke}. */
export interface Spoke<Hub extends KubernetesObject = KubernetesObject> {
  readonly kind: Kind;
  toHub(this: void, object: KubernetesObject): Hub;
  fromHub(this: void, object: Hub): KubernetesObject;
}

/**
 * Another version of a kind, and how it is made from the hub and the hub from it. Metadata is kept by itself; labels and
 * annotations may be changed, and are the place for what the other version has no field for.
 * @example spoke(WebsiteV1beta1, { toHub: ({ spec }) => ({ spec: { host: spec.hostname } }), fromHub: … })
 */
export function spoke<Other extends KubernetesObject, Hub extends KubernetesObject>(
  kind: Kind<Other>,
  { fromHub, toHub }: { readonly toHub: Convert<Other, Hub>; readonly fromHub: Convert<Hub, Other> },
): Spoke<Hub> {
  return {
    kind,
    toHub: (object) => toHub(object as Other) as Hub,
    fromHub: (object) => fromHub(object) as Other,
  };
}

/** `apiVersion`, `kind` and, where they are absent, `metadata` are filled in. */
export type Convert<From, To> = (
  object: From,
) => Omit<To, 'apiVersion' | 'kind' | 'metadata'> & Partial<Pick<To & KubernetesObject, 'metadata'>>;

/** How the API server treats a webhook. Fields and defaults are those of its configuration. */
export interface WebhookRules {
  /** The requests that it is asked about: `default` gets nothing of DELETE. @default CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[];
  /** The effect if the webhook cannot be reached or fails. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** 1 to 30. @default 10 */
  readonly timeoutSeconds?: number;
  /** `NoneOnDryRun`: the handlers change something elsewhere, unless `dryRun`. @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  /** In CEL; all have to be true. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Whether `default` is asked again after other webhooks have changed the object. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** How a webhook answers. */
export interface WebhookHandlers<T extends KubernetesObject> {
  /** Changes the object in place, or returns another one. */
  default?(this: void, object: T, request: AdmissionRequest<T>): void | T | Promise<void | T>;
  /** @param object as it will be stored; at a deletion, as it was stored last */
  validate?(this: void, object: DeepReadonly<T>, request: AdmissionRequest<T>): Verdict | Promise<Verdict>;
}

/** A webhook as its author writes it. */
export interface WebhookSpec<T extends KubernetesObject> extends WebhookRules, WebhookHandlers<T> {
  /**
   * Requests at this subresource of the kind, and not at the kind itself: `eviction` of pods, `scale` of Deployments. The object is
   * the subresource's: an Eviction, a Scale.
   */
  readonly subresource?: string;
  /**
   * One more label for a name of its own: needed for a second webhook of a kind.
   * @default the kind's resource, and after a hyphen the subresource
   */
  readonly name?: string;
  /** The other versions of the kind; the webhook's own is the hub. @default one version, or the same schema in all */
  readonly convert?: readonly Spoke<T>[];
}

/** Made by {@link defineWebhook}. */
export interface WebhookDefinition {
  /** `websites.example.com` */
  readonly name: string;
  readonly kind: Kind;
  /** Empty: the kind itself. */
  readonly subresource: string;
  readonly rules: WebhookRules;
  readonly operations: readonly AdmissionOperation[];
  readonly default?: WebhookHandlers<KubernetesObject>['default'];
  readonly validate?: WebhookHandlers<KubernetesObject>['validate'];
  /** Absent: nothing to convert. */
  readonly convert?: readonly Spoke[];
}

const OPERATIONS: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE'];
const LONGEST_TIMEOUT_S = 30;

/**
 * A webhook of a kind: what is filled in, what is refused, and how versions become each other.
 * @throws InvalidOptionError naming the option
 */
export function defineWebhook<T extends KubernetesObject>(
  kind: Kind<T>,
  { convert, default: fill, name: given, subresource = '', validate, ...rules }: WebhookSpec<T>,
): WebhookDefinition {
  const name = given ?? (subresource === '' ? kind.resource : `${kind.resource}-${subresource}`);
  if (!/^[a-z]*$/.test(subresource))
    throw new InvalidOptionError(
      'webhook.subresource',
      `"${subresource}" must be one word of lower-case letters`,
    );
  if (subresource !== '' && convert?.length)
    throw new InvalidOptionError(
      'webhook.convert',
      `a webhook of ${kind.resource}/${subresource} has no versions`,
    );
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name))
    throw new InvalidOptionError('webhook.name', `"${name}" must be lower-case words with hyphens and dots`);
  if (!fill && !validate && !convert?.length)
    throw new InvalidOptionError('webhook', `${name} has none of default, validate and convert`);
  const { operations = ['CREATE', 'UPDATE'], timeoutSeconds = 10 } = rules;
  const unknown = operations.find((operation) => !OPERATIONS.includes(operation));
  if (unknown !== undefined || operations.length === 0)
    throw new InvalidOptionError('webhook.operations', `must be some of ${OPERATIONS.join(', ')}`);
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > LONGEST_TIMEOUT_S)
    throw new InvalidOptionError('webhook.timeoutSeconds', `must be from 1 to ${LONGEST_TIMEOUT_S}`);
  for (const { kind: other } of convert ?? []) assertIsVersionOf(kind, other);
  return Object.freeze({
    name: `${name}.${domainOf(kind)}`,
    kind,
    subresource,
    rules,
    operations,
    default: fill,
    validate,
    convert: convert?.length ? convert : undefined,
  });
}

/** The API wants names of at least three labels, and some built-in groups have one. */
function domainOf({ group }: Kind): string {
  return group.includes('.') ? group : `${group || 'core'}.k8s.io`;
}

function assertIsVersionOf(hub: Kind, other: Kind): void {
  const isSame = hub.group === other.group && hub.kind === other.kind && hub.resource === other.resource;
  if (!isSame || hub.version === other.version)
    throw new InvalidOptionError(
      'webhook.convert',
      `${other.kind} ${other.group}/${other.version} is not another version of ${hub.kind} ${hub.group}/${hub.version}`,
    );
}
