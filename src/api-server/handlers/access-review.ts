import type { UnstructuredObject } from '../../kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/index.js';
import { created } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';

/** `POST selfsubjectaccessreviews`: whoever has the token may do everything. */
export async function handleAccessReview(request: ApiRequest): Promise<ApiResponse> {
  const body = await request.readBody();
  const review = (
    request.contentType === PROTOBUF_MEDIA_TYPE ? decodeProtobuf(body) : parse(body.toString())
  ) as UnstructuredObject;
  return created({
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec: review.spec ?? {},
    status: { allowed: true, reason: 'the bearer token may do everything' },
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the SelfSubjectAccessReview cannot be read: ${String(error)}`, error);
  }
}
