import type { Span } from '@opentelemetry/api';
import type { KubernetesObject, Logger } from '@rollkeeper/runtime';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { Admission, ReviewedRequest } from './admission-review.js';
import { refusalOf } from './admission-review.js';
import type { AdmissionRequest, WebhookDefinition } from './define-webhook.js';
import { jsonPatchBetween } from './json-patch.js';

export interface CallContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly span: Span;
}

/** Returns the changes that `default` makes in the object, as a patch. Rejects as the handler does. */
export async function fillIn(
  { default: fill }: WebhookDefinition,
  reviewed: ReviewedRequest,
  context: CallContext,
): Promise<Admission> {
  const { object } = reviewed;
  if (!fill || !object) return { warnings: [] };
  const { request, warnings } = requestFor(reviewed, context);
  const draft = cloneJson(object);
  const filled = (await fill(draft, request)) ?? draft;
  return { warnings, patch: jsonPatchBetween(object, filled) };
}

/** Returns the verdict of `validate` on the object. Rejects as the handler does. */
export async function judge(
  { kind, validate }: WebhookDefinition,
  reviewed: ReviewedRequest,
  context: CallContext,
): Promise<Admission> {
  const subject = reviewed.object ?? reviewed.old;
  if (!validate || !subject) return { warnings: [] };
  const { request, warnings } = requestFor(reviewed, context);
  const verdict = await validate(subject, request);
  const name = request.name || (subject.metadata.generateName ?? '');
  return { warnings, refusal: refusalOf(verdict, { ...kind, name }) };
}

function requestFor(reviewed: ReviewedRequest, context: CallContext) {
  const { dryRun, name, namespace, old, operation, options, user } = reviewed;
  const warnings: string[] = [];
  const request: AdmissionRequest<KubernetesObject> = {
    ...{ dryRun, name, namespace, old, operation, options, user },
    ...context,
    warn: (text) => void warnings.push(text),
  };
  return { request, warnings };
}
