import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { decodeBody, checkWriteOptions, typeProblem } from '../../http/decoding/index.js';
import {
  badRequest,
  invalid,
  methodNotAllowed,
  notAcceptable,
  unknownPath,
} from '../../schema/errors/index.js';
import { invalidField } from '../../kinds/index.js';
import type { KindRegistry } from '../../kinds/index.js';
import { created, negotiate } from '../../http/index.js';
import type { ApiRequest, ApiResponse } from '../../http/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { decideReview, REVIEW_TYPES } from './decide-review.js';
import type { Reviewer, ReviewType } from './decide-review.js';

interface ReviewCall {
  readonly type: ReviewType;
  readonly request: ApiRequest;
  /** Empty: cluster scope. */
  readonly namespace: string;
  /** The part of the path behind the collection. */
  readonly name: string;
}

interface ReviewContext {
  readonly clock: Pick<Clock, 'now'>;
  readonly kinds: KindRegistry;
  readonly reviewer: Reviewer;
  readonly schemas: SchemaRegistry;
}

/** `POST` of a review: its answer is its status. Nothing is stored. */
export async function handleReview(
  { name, namespace, request, type }: ReviewCall,
  { clock, kinds, reviewer, schemas }: ReviewContext,
): Promise<ApiResponse> {
  if (name !== '' || type.namespaced !== (namespace !== '')) throw unknownPath();
  if (request.method !== 'POST') throw methodNotAllowed();
  // Nothing but the review itself can be shown.
  if (negotiate(request.headers.accept, { hasProtobuf: true }).as !== undefined) throw notAcceptable();
  const { object, warnings } = await decodeBody(await request.readBody(), {
    contentType: request.contentType,
    schemas,
    schema: type.schema,
    kind: type,
    fieldValidation: checkWriteOptions(request),
  });
  for (const warning of warnings) request.warn(warning);
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  checkReviewType(object, type, kinds);
  if (kind.endsWith('SubjectAccessReview')) refuseMetadata(type, object);
  const status = await decideReview(type, object, reviewer, { namespace, self: request.user });
  const { spec } = object;
  const own = kind === 'TokenReview' ? object.metadata : {};
  const creationTimestamp = kind === 'SelfSubjectReview' ? toRfc3339(clock.now()) : null;
  const metadata = { ...own, creationTimestamp, ...(type.namespaced && { namespace }) };
  return created({ kind, apiVersion, metadata, ...(spec !== undefined && { spec }), status });
}

function checkReviewType(sent: Partial<UnstructuredObject>, type: ReviewType, kinds: KindRegistry): void {
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  if ((sent.kind || kind) === kind && (sent.apiVersion || apiVersion) === apiVersion) return;
  const named = { apiVersion: sent.apiVersion || apiVersion, kind: sent.kind || kind };
  const isReview = REVIEW_TYPES.some(
    (other) => other.kind === named.kind && apiVersionOf(other) === named.apiVersion,
  );
  const isKnown = isReview || kinds.findByKind(named.apiVersion, named.kind) !== undefined;
  throw badRequest(typeProblem(named, type, isKnown));
}

/** A question has no name and no labels; a local one a namespace. */
function refuseMetadata(type: ReviewType, { metadata }: UnstructuredObject): void {
  const given = Object.entries(metadata).filter(
    ([field, value]) =>
      value !== null && field !== 'managedFields' && !(type.namespaced && field === 'namespace'),
  );
  if (given.length === 0) return;
  const problem = invalidField('metadata', metadata, 'must be empty');
  throw invalid({ group: type.group, kind: '' }, '', [problem]);
}
