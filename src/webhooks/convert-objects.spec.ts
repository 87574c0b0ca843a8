import { describe, expect, it } from 'vitest';
import { checkConversionRoundTrips } from '../testing/conversion-round-trips.js';
import type { KubernetesObject } from '../machinery/kubernetes/index.js';
import { defineKind } from '../runtime/index.js';
import { convertObject, reviewConversion } from './convert-objects.js';
import type { WebhookSpec } from './define-webhook.js';
import { defineWebhook, spoke } from './define-webhook.js';

interface Website extends KubernetesObject {
  spec: { host: string; port?: number };
}
interface OldWebsite extends KubernetesObject {
  spec: { address: string };
}
const GROUP = { group: 'example.com', kind: 'Website' };
const Website = defineKind<Website>({ ...GROUP, version: 'v1' });
const OldWebsite = defineKind<OldWebsite>({ ...GROUP, version: 'v1beta1' });
const Oldest = defineKind<OldWebsite>({ ...GROUP, version: 'v1alpha1' });

const split = ({ spec: { address } }: OldWebsite) => {
  const [host = '', port] = address.split(':');
  return { spec: { host, ...(port !== undefined && { port: Number(port) }) } };
};
const join = ({ spec: { host, port } }: Website) => ({
  spec: { address: port === undefined ? host : `${host}:${port}` },
});
const websites = (convert: WebhookSpec<Website>['convert']) => defineWebhook(Website, { convert });
const good = websites([
  spoke<OldWebsite, Website>(OldWebsite, { toHub: split, fromHub: join }),
  spoke<OldWebsite, Website>(Oldest, { toHub: split, fromHub: join }),
]);
const metadata = { name: 'shop', namespace: 'default', uid: 'u', labels: { a: 'b' } };
const stored = { apiVersion: 'example.com/v1', kind: 'Website', metadata, spec: { host: 'shop', port: 80 } };

describe('a conversion', () => {
  it('goes by way of the hub, and keeps what it says nothing of', () => {
    const old = convertObject(good, stored, 'example.com/v1beta1');
    expect(old).toEqual({ ...stored, apiVersion: 'example.com/v1beta1', spec: { address: 'shop:80' } });
    const oldest = convertObject(good, old, 'example.com/v1alpha1');
    expect(oldest).toEqual({ ...old, apiVersion: 'example.com/v1alpha1' });
    expect(convertObject(good, oldest, 'example.com/v1')).toEqual(stored);
    expect(convertObject(good, stored, 'example.com/v1')).toBe(stored);
  });

  it('may change labels and annotations, and nothing else of the metadata', () => {
    const marking = websites([
      spoke<OldWebsite, Website>(OldWebsite, {
        toHub: (object) => ({
          ...split(object),
          metadata: { name: 'another', annotations: { from: 'old' } },
        }),
        fromHub: join,
      }),
    ]);
    const old = { ...stored, apiVersion: 'example.com/v1beta1', spec: { address: 'shop' } };
    expect(convertObject(marking, old, 'example.com/v1').metadata).toEqual({
      ...{ name: 'shop', namespace: 'default', uid: 'u' },
      annotations: { from: 'old' },
    });
  });

  it('answers a review with all objects, or with why it cannot', () => {
    const review = (request: object) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: '1', ...request },
    });
    const wanted = { desiredAPIVersion: 'example.com/v1beta1' };
    expect(reviewConversion(good, review({ ...wanted, objects: [stored, stored] }))).toMatchObject({
      response: { uid: '1', result: { status: 'Success' }, convertedObjects: [{}, {}] },
    });
    const other = { ...stored, apiVersion: 'example.com/v3' };
    expect(reviewConversion(good, review({ ...wanted, objects: [other] }))).toMatchObject({
      response: {
        result: { status: 'Failure', message: 'no conversion of Website knows the version example.com/v3' },
      },
    });
    expect(() => reviewConversion(good, review({ objects: [] }))).toThrow('no version to convert them to');
    expect(() => reviewConversion(good, {})).toThrow('expected ConversionReview of apiextensions.k8s.io/v1');
  });
});

describe('a check of round trips', () => {
  const objects = {
    v1: (random: { next(): number }) => ({
      metadata: { name: 'shop' },
      spec: { host: 'shop', ...(random.next() < 0.5 && { port: Math.trunc(random.next() * 65_536) }) },
    }),
    v1beta1: () => ({ metadata: { name: 'shop' }, spec: { address: 'shop:8080' } }),
  };

  it('passes where nothing is lost', () => {
    checkConversionRoundTrips(good, { objects, seed: 1 });
  });

  it('names the way, the seed and the field where something is', () => {
    const lossy = websites([
      spoke<OldWebsite, Website>(OldWebsite, {
        toHub: ({ spec: { address } }) => ({ spec: { host: address.split(':')[0] ?? '' } }),
        fromHub: join,
      }),
    ]);
    expect(() => checkConversionRoundTrips(lossy, { objects, seed: 1 })).toThrow(
      /^v1 -> v1beta1 -> v1, seed 1: it comes back another: spec.port was \d+ and is nothing/,
    );
  });

  it('needs objects to begin with', () => {
    expect(() => checkConversionRoundTrips(good, { objects: {} })).toThrow(
      'objects: name some of v1, v1beta1',
    );
  });
});

describe('the versions of a webhook', () => {
  it('are of one kind', () => {
    const Other = defineKind({ group: 'example.com', kind: 'Other', version: 'v1beta1' });
    const same = (object: KubernetesObject) => object;
    for (const kind of [Other, Website])
      expect(() =>
        defineWebhook<KubernetesObject>(Website, { convert: [spoke(kind, { toHub: same, fromHub: same })] }),
      ).toThrow('webhook.convert: ');
  });

  it.each([
    { spec: {}, says: 'has none of default, validate and convert' },
    { spec: { validate: () => undefined, name: 'Not This' }, says: 'webhook.name: ' },
    { spec: { validate: () => undefined, timeoutSeconds: 31 }, says: 'webhook.timeoutSeconds: ' },
    { spec: { validate: () => undefined, operations: [] }, says: 'webhook.operations: ' },
  ] as const)('are refused where $says', ({ says, spec }) => {
    expect(() => defineWebhook(Website, spec)).toThrow(says);
  });
});
