import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { checkConverted, readConversionReview, reviewVersionOf } from './conversion-review.js';

const ORIGINAL: UnstructuredObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { old: 'yes' } },
};
const CONVERTED = { ...ORIGINAL, apiVersion: 'example.com/v2' };

const checked = (answer: unknown): UnstructuredObject =>
  checkConverted([ORIGINAL], [answer], 'example.com/v2')[0]!;

const reviewed = (response: object, version: 'v1' | 'v1beta1' = 'v1') =>
  readConversionReview(
    { apiVersion: `apiextensions.k8s.io/${version}`, kind: 'ConversionReview', response },
    'uid',
    version,
  );

describe('a ConversionReview', () => {
  it('has the version that the webhook likes best of those that are known', () => {
    expect(reviewVersionOf(['v2', 'v1beta1', 'v1'])).toBe('v1beta1');
    expect(() => reviewVersionOf(['v2'])).toThrow('failed: no supported conversion review versions');
  });

  it('must answer the request that was sent, but for the version that was never checked', () => {
    const response = { uid: 'other', convertedObjects: [1], result: { status: 'Success' } };
    expect(() => reviewed(response)).toThrow('failed: expected response.uid="uid", got "other"');
    expect(reviewed(response, 'v1beta1')).toEqual([1]);
  });

  it.each([
    [undefined, 'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got , Kind='],
    [
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: 'yes' },
      'no response provided',
    ],
  ])('is refused if it is none: %j', (answer, problem) => {
    expect(() => readConversionReview(answer, 'uid', 'v1')).toThrow(`failed: ${problem}`);
  });
});

describe('a converted object', () => {
  it('has the metadata of the original but for labels and annotations, which are its own', () => {
    const metadata = {
      ...ORIGINAL.metadata,
      resourceVersion: '8',
      labels: undefined,
      annotations: { a: 'b' },
    };
    const before = structuredClone(ORIGINAL);
    expect(checked({ ...CONVERTED, metadata, spec: { size: 1 } })).toEqual({
      ...CONVERTED,
      metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', annotations: { a: 'b' } },
      spec: { size: 1 },
    });
    expect(ORIGINAL).toEqual(before);
  });

  it.each([
    ['nothing', null, "object at index 0: Object 'Kind' is missing in 'null'"],
    [
      'another kind',
      { ...CONVERTED, kind: 'Other' },
      'object at index 0: invalid kind (expected Thing, received Other)',
    ],
    [
      'another version',
      ORIGINAL,
      'object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    ],
    [
      'another UID',
      { ...CONVERTED, metadata: { ...ORIGINAL.metadata, uid: 'w' } },
      'object: must have the same UID: u != w',
    ],
    ['no metadata', { ...CONVERTED, metadata: undefined }, 'object: must have the same name: a != '],
    [
      'labels that are none',
      { ...CONVERTED, metadata: { ...ORIGINAL.metadata, labels: ['a'] } },
      'metadata: invalid metadata.labels of type []interface {} in converted object',
    ],
    [
      'an annotation that is no text',
      { ...CONVERTED, metadata: { ...ORIGINAL.metadata, annotations: { a: 1.5 } } },
      'metadata: metadata.annotations[a] must be a string, but is float64 in converted object',
    ],
    [
      'a label that cannot be one',
      { ...CONVERTED, metadata: { ...ORIGINAL.metadata, labels: { a: '-' } } },
      'metadata: metadata.labels: Invalid value: "-"',
    ],
  ])('with %s is refused', (_case, answer, problem) => {
    expect(() => checked(answer)).toThrow(`returned invalid ${problem}`);
  });

  it('may keep a label that would be refused today', () => {
    const labels = { a: '-' };
    const original = { ...ORIGINAL, metadata: { ...ORIGINAL.metadata, labels } };
    const answer = { ...original, apiVersion: 'example.com/v2' };
    expect(checkConverted([original], [answer], 'example.com/v2')[0]?.metadata.labels).toEqual(labels);
  });
});
