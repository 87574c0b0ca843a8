import type { KubernetesObject } from '@rollkeeper/runtime';
import { apiVersionOf, cloneJson } from '@rollkeeper/machinery/kubernetes';
import { MalformedReviewError, requestIn, isApiObject } from './admission-review.js';
import type { Spoke, WebhookDefinition } from './define-webhook.js';

type Converted = Pick<WebhookDefinition, 'kind' | 'convert'>;

/**
 * An object of one version as another: by way of the hub, unless one of the two is that. What it is made from stays as it is.
 * @throws TypeError for a version that the webhook does not know
 */
export function convertObject(
  { convert: spokes = [], kind: hub }: Converted,
  object: KubernetesObject,
  apiVersion: string,
): KubernetesObject {
  if (object.apiVersion === apiVersion) return object;
  const hubVersion = apiVersionOf(hub);
  const spokeOf = (version: string): Spoke => {
    const found = spokes.find(({ kind }) => apiVersionOf(kind) === version);
    if (!found) throw new TypeError(`no conversion of ${hub.kind} knows the version ${version}`);
    return found;
  };
  const asHub =
    object.apiVersion === hubVersion
      ? object
      : completed(spokeOf(object.apiVersion).toHub(cloneJson(object)), object, hubVersion);
  if (apiVersion === hubVersion) return asHub;
  return completed(spokeOf(apiVersion).fromHub(cloneJson(asHub)), asHub, apiVersion);
}

/** The answer to a ConversionReview of `apiextensions.k8s.io/v1`. @throws MalformedReviewError */
export function reviewConversion(definition: Converted, review: unknown): object {
  const { desiredAPIVersion, objects, uid } = requestIn(
    review,
    'apiextensions.k8s.io/v1',
    'ConversionReview',
  );
  if (typeof desiredAPIVersion !== 'string' || !Array.isArray(objects))
    throw new MalformedReviewError('request: has no objects, or no version to convert them to');
  const response = (result: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid, ...result },
  });
  try {
    const convertedObjects = objects.map((object: unknown) => {
      if (!isApiObject(object)) throw new TypeError('one of the objects is none');
      return convertObject(definition, object, desiredAPIVersion);
    });
    return response({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return response({ result: { status: 'Failure', message } });
  }
}

/** The server only takes labels and annotations from a conversion; everything else of the metadata stays. */
function completed(
  made: Partial<KubernetesObject>,
  from: KubernetesObject,
  apiVersion: string,
): KubernetesObject {
  const { annotations, labels } = made.metadata ?? from.metadata;
  const { annotations: _annotations, labels: _labels, ...kept } = from.metadata;
  const metadata = { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { ...made, apiVersion, kind: from.kind, metadata };
}
