import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { cloneJson, sameJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Namespace, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, internalError, StatusError } from '../../../schema/errors/index.js';
import { applyPatch } from '../../../schema/patch/index.js';
import { normalizeObject, readMessage } from '../../../schema/index.js';
import type { SchemaRegistry } from '../../../schema/index.js';
import { ADMISSION_REVIEW, WebhookCallError, withReviews } from '../../../kinds/webhook-client/index.js';
import type { WebhookCaller } from '../../../kinds/webhook-client/index.js';
import { refused, SERVER } from '../attributes.js';
import type { Attributes, SentType } from '../attributes.js';
import type { BrokenObject, FollowedObjects } from '../../../storage/index.js';
import { selectionsOfConfiguration } from '../salvage-selection.js';
import { matchConditions, requestBudget } from '../request-expressions.js';
import { authorizerFor } from '../request-authority.js';
import type { AccessDecider } from '../request-authority.js';
import { convertedOnce, denialBy, readReview, reviewRequest } from './admission-review.js';
import type { Conversion, Review, ReviewRequest, ReviewResponse } from './admission-review.js';
import { keepType } from './keep-type.js';
import { matchRequest } from './match-request.js';
import { replaceContents } from './replace-contents.js';
import { webhooksOf } from './webhook.js';
import type { Selection, Webhook, WebhookConfiguration } from './webhook.js';

interface WebhookKnowledge {
  readonly mutating: FollowedObjects<WebhookConfiguration>;
  readonly validating: FollowedObjects<WebhookConfiguration>;
  readonly namespaces: FollowedObjects<Namespace>;
  readonly kinds: KindRegistry;
  readonly schemas: SchemaRegistry;
  readonly access: AccessDecider;
  readonly convert: Conversion;
  readonly logger: Logger;
}

/** A webhook that is asked about a request, and the form in which it sees it. */
interface Asked {
  readonly webhook: Webhook;
  readonly shown: KindDefinition;
}

/**
 * Asks the webhooks that configurations name. Without any, a request pays two look-ups in memory. A configuration that cannot
 * be understood refuses the requests that it may apply to, unless it says that its failures are ignored. The genuine server
 * then refuses everything that is not about configurations, as long as it cannot read them all.
 */
export class WebhookPlugin {
  /** The requests that a configuration may be for although it cannot be understood. */
  private readonly salvaged = new WeakMap<BrokenObject, readonly Selection[]>();

  constructor(
    private readonly known: WebhookKnowledge,
    private readonly client: WebhookCaller,
  ) {
    for (const configurations of [known.mutating, known.validating])
      configurations.prepareBy((configuration) => webhooksOf([configuration]));
  }

  /**
   * Lets the mutating webhooks change the object, one after the other.
   * @param complete runs after a webhook has changed the object: what is missing now is filled in again
   * @param isChanged whether others have changed it before, so that it has to be completed anyway
   * @throws StatusError
   */
  async mutate(
    attributes: Attributes,
    complete: () => Promise<void>,
    { isChanged = false }: { readonly isChanged?: boolean } = {},
  ): Promise<void> {
    this.refuseByBroken('MutatingWebhookConfiguration', this.known.mutating.broken, attributes);
    const configurations = this.known.mutating.list('');
    if (configurations.length === 0) return isChanged ? complete() : undefined;
    const asked: Webhook[] = [];
    const again = new Set<Webhook>();
    let hasChanged = false;
    for (const one of await this.matching(webhooksOf(configurations), attributes, this.known.convert)) {
      if (await this.mutateBy(one, attributes)) {
        hasChanged = true;
        // The webhooks asked before have not seen this change.
        for (const webhook of asked) again.add(webhook);
      }
      if (one.webhook.isReinvoked) asked.push(one.webhook);
    }
    if (!hasChanged && !isChanged) return;
    const before = cloneJson(attributes.object);
    await complete();
    if (!sameJson(before, attributes.object)) for (const webhook of asked) again.add(webhook);
    if (again.size === 0) return;
    let hasChangedAgain = false;
    for (const one of await this.matching([...again], attributes, this.known.convert))
      hasChangedAgain = (await this.mutateBy(one, attributes)) || hasChangedAgain;
    if (hasChangedAgain) await complete();
  }

  /** Asks the validating webhooks, all at once. @throws StatusError the first of their refusals */
  async validate(attributes: Attributes): Promise<void> {
    this.refuseByBroken('ValidatingWebhookConfiguration', this.known.validating.broken, attributes);
    const configurations = this.known.validating.list('');
    if (configurations.length === 0) return;
    const convert = convertedOnce(this.known.convert);
    const all = await this.matching(webhooksOf(configurations), attributes, convert);
    const outcomes = await Promise.allSettled(all.map((one) => this.ask(one, attributes, convert)));
    const refusal = outcomes.find((outcome) => outcome.status === 'rejected');
    if (refusal) throw refusal.reason;
  }

  /**
   * The server's own writes pass, or it would not start.
   * @throws StatusError 403
   */
  private refuseByBroken(kind: string, broken: readonly BrokenObject[], attributes: Attributes): void {
    if (broken.length === 0 || attributes.caller === SERVER) return;
    for (const one of broken) {
      const selections = this.salvaged.get(one) ?? selectionsOfConfiguration(one.object);
      this.salvaged.set(one, selections);
      if (
        selections.some((selection) => matchRequest(selection, attributes, this.known.kinds, this.labelsOf))
      )
        throw refused(
          attributes,
          `not yet ready to handle request: ${kind} ${JSON.stringify(one.name)} in the store cannot be understood`,
        );
    }
  }

  private readonly labelsOf = (namespace: string) =>
    this.known.namespaces.get('', namespace)?.metadata.labels ?? {};

  private async matching(
    webhooks: readonly Webhook[],
    attributes: Attributes,
    convert: Conversion,
  ): Promise<readonly Asked[]> {
    const all: Asked[] = [];
    for (const webhook of webhooks) {
      const shown = matchRequest(webhook.selection, attributes, this.known.kinds, this.labelsOf);
      if (shown && (await this.meetsConditions(webhook, shown, attributes, convert)))
        all.push({ webhook, shown });
    }
    return all;
  }

  /** @throws StatusError 403 when they cannot be judged, unless the webhook may fail */
  private async meetsConditions(
    { failsOpen, matchConditions: conditions }: Webhook,
    shown: KindDefinition,
    attributes: Attributes,
    convert: Conversion,
  ): Promise<boolean> {
    if (conditions.length === 0) return true;
    const { object, oldObject, ...request } = await reviewRequest(attributes, shown, convert);
    const authorizer = authorizerFor(attributes, this.known.access);
    const match = matchConditions(conditions, { object, oldObject, request, authorizer }, requestBudget());
    if (match.isMatch === undefined && !failsOpen) throw refused(attributes, match.problem);
    return match.isMatch ?? false;
  }

  /** @returns whether it has changed the object */
  private async mutateBy(one: Asked, attributes: Attributes): Promise<boolean> {
    const answer = await this.ask(one, attributes, this.known.convert);
    if (answer?.patch === undefined) return false;
    const { object } = attributes;
    if (!object)
      throw internalError(
        `admission webhook ${JSON.stringify(one.webhook.name)} attempted to modify the object, which is not supported for this operation`,
      );
    const patched = await this.patched(one, attributes, object, answer.patch);
    if (sameJson(patched, object)) return false;
    replaceContents(object, patched);
    return true;
  }

  /** The patch is for the form that the webhook has seen; what comes of it is converted back. */
  private async patched(
    { shown }: Asked,
    { kind, sent }: Attributes,
    object: UnstructuredObject,
    patch: string,
  ): Promise<UnstructuredObject> {
    const { convert } = this.known;
    if (sent) return this.patchedBy(patch, object, sent);
    return convert(kind, shown, this.patchedBy(patch, await convert(shown, kind, object), shown));
  }

  private patchedBy(
    patch: string,
    form: UnstructuredObject,
    seen: SentType | KindDefinition,
  ): UnstructuredObject {
    const { kinds, schemas } = this.known;
    const { schema } = seen;
    const patched = patchedOr(() => {
      const { object: changed } = applyPatch(form, { type: 'json', patch, schemas, schema: schema ?? '' });
      if (schema !== undefined) normalizeObject(changed, schemas, schema);
      return changed;
    });
    keepType(patched, seen, kinds);
    return patched;
  }

  /** @returns undefined when the webhook failed, and may fail */
  private async ask(
    { shown, webhook }: Asked,
    attributes: Attributes,
    convert: Conversion,
  ): Promise<ReviewResponse | undefined> {
    const { caller, dryRun } = attributes;
    const { name } = webhook;
    if (dryRun && webhook.hasSideEffectsOnDryRun)
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    try {
      const answer = await this.review(webhook, await reviewRequest(attributes, shown, convert));
      for (const warning of answer.warnings) caller.warn(warning);
      if (answer.allowed) return answer;
      throw denialBy(name, answer.status);
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      const problem = `failed calling webhook ${JSON.stringify(name)}: ${error.message}`;
      if (!webhook.failsOpen) throw internalError(problem, error);
      this.known.logger.warn('a webhook failed, and the request goes on without it', { error: problem });
      return undefined;
    }
  }

  /** @throws WebhookCallError if it could not be called, or its answer was malformed */
  private async review(webhook: Webhook, request: ReviewRequest): Promise<ReviewResponse> {
    const { reviewVersion } = webhook;
    if (!reviewVersion)
      throw new WebhookCallError('could not get REST client: unsupported admission review versions');
    const apiVersion = `admission.k8s.io/${reviewVersion}`;
    const answer = await this.post(webhook, stringifyJson({ kind: 'AdmissionReview', apiVersion, request }));
    try {
      return readReview(answer, request.uid, reviewVersion);
    } catch (error) {
      throw new WebhookCallError(`received invalid webhook response: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  private async post(webhook: Webhook, body: string): Promise<Review> {
    try {
      const answer = await this.client.post(webhook, body);
      return readMessage(answer, withReviews(this.known.schemas), ADMISSION_REVIEW);
    } catch (error) {
      throw new WebhookCallError(`failed to call webhook: ${errorMessage(error)}`, { cause: error });
    }
  }
}

/** @throws StatusError 500 where the patch does not fit */
function patchedOr(work: () => UnstructuredObject): UnstructuredObject {
  try {
    return work();
  } catch (error) {
    throw internalError(problemOf(error), error);
  }
}

/** A patch that does not fit says so in its cause. */
function problemOf(error: unknown): string {
  const cause = error instanceof StatusError ? error.status.details?.causes?.[0]?.message : undefined;
  return cause ?? errorMessage(error);
}
