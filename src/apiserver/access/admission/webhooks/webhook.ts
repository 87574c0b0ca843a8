import type {
  MutatingWebhook,
  RuleWithOperations,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import { compileLabelSelector, isEmptySelector } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { compileRequestExpression } from '../../../kinds/index.js';
import type { RequestExpression } from '../../../kinds/index.js';
import type { WebhookTarget } from '../../../kinds/webhook-client/index.js';

/** A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. A mutating webhook has all that a validating one has. */
export interface WebhookConfiguration extends KubernetesObject {
  webhooks?: MutatingWebhook[];
}

/** The requests that a webhook or policy is for. */
export interface Selection {
  readonly rules: readonly RuleWithOperations[];
  readonly excluded: readonly RuleWithOperations[];
  readonly isExact: boolean;
  readonly matchesNamespace: LabelMatcher;
  /** Whether every namespace is selected: its labels are not needed then. */
  readonly isForAllNamespaces: boolean;
  readonly matchesObject: LabelMatcher;
  /** Whether every object is selected, those without labels of their own too. */
  readonly isForAllObjects: boolean;
}

/** A webhook as it is called. */
export interface Webhook extends WebhookTarget {
  readonly name: string;
  readonly selection: Selection;
  readonly matchConditions: readonly RequestExpression[];
  readonly failsOpen: boolean;
  readonly hasSideEffectsOnDryRun: boolean;
  readonly isReinvoked: boolean;
  readonly reviewVersion: 'v1' | 'v1beta1' | undefined;
}

/** As much as a request may have. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;

const compiled = new WeakMap<object, readonly Webhook[]>();

/** The webhooks of all configurations, in the order in which they are asked. */
export function webhooksOf(configurations: readonly Readonly<WebhookConfiguration>[]): readonly Webhook[] {
  return [...configurations]
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((configuration) => {
      const known = compiled.get(configuration);
      if (known) return known;
      const webhooks = (configuration.webhooks ?? []).map(compileWebhook);
      compiled.set(configuration, webhooks);
      return webhooks;
    });
}

function compileWebhook(hook: MutatingWebhook): Webhook {
  return {
    name: hook.name,
    client: hook.clientConfig,
    selection: compileSelection({ ...hook, resourceRules: hook.rules }),
    matchConditions: (hook.matchConditions ?? []).map(({ expression }) =>
      compileRequestExpression(expression),
    ),
    failsOpen: hook.failurePolicy === 'Ignore',
    hasSideEffectsOnDryRun: hook.sideEffects !== 'None' && hook.sideEffects !== 'NoneOnDryRun',
    isReinvoked: hook.reinvocationPolicy === 'IfNeeded',
    timeoutSeconds: hook.timeoutSeconds ?? 10,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    reviewVersion: (['v1', 'v1beta1'] as const).find((version) =>
      hook.admissionReviewVersions.includes(version),
    ),
  };
}

/** Compiles the rules by which webhooks and policies select requests. */
export function compileSelection(said: {
  readonly resourceRules?: readonly RuleWithOperations[];
  readonly excludeResourceRules?: readonly RuleWithOperations[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: Parameters<typeof compileLabelSelector>[0];
  readonly objectSelector?: Parameters<typeof compileLabelSelector>[0];
}): Selection {
  const { namespaceSelector = {}, objectSelector = {} } = said;
  return {
    rules: said.resourceRules ?? [],
    excluded: said.excludeResourceRules ?? [],
    isExact: said.matchPolicy === 'Exact',
    matchesNamespace: compileLabelSelector(namespaceSelector),
    isForAllNamespaces: isEmptySelector(namespaceSelector),
    matchesObject: compileLabelSelector(objectSelector),
    isForAllObjects: isEmptySelector(objectSelector),
  };
}
