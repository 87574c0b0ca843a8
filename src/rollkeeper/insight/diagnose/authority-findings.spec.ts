import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeTestCertificates } from '../../../testing/api-client-certificates.js';
import { conclude } from './conclude.js';
import { kindNamed } from './kind-diagnoses.js';
import { ListedSnapshot } from './snapshot.js';

const DAY_MS = 86_400_000;
const NOTHING = new ListedSnapshot(new Map());

let caBundle: string;
let endMs: number;

beforeAll(async () => {
  const { ca } = await makeTestCertificates();
  caBundle = Buffer.from(ca).toString('base64');
  endMs = new X509Certificate(ca).validToDate.getTime();
});

const diagnosed = (word: string, fields: object, beforeEndMs: number) => {
  const kind = kindNamed(word)!;
  const object = { apiVersion: 'v1', kind: kind.type.kind, metadata: { name: 'guard' }, ...fields };
  return conclude(kind.type, object, kind.judge(object, NOTHING, endMs - beforeEndMs));
};
const webhook = (failurePolicy: string, bundle = caBundle) => ({
  webhooks: [
    { name: 'w.x', failurePolicy, clientConfig: { caBundle: bundle }, rules: [{ resources: ['pods'] }] },
  ],
});

describe('the authority in a caBundle', () => {
  it.each([
    [30 * DAY_MS, 'healthy', []],
    [10 * DAY_MS, 'healthy', ['note certificate-ends']],
    [2 * DAY_MS, 'degraded', ['blocked certificate-ends']],
    [-DAY_MS, 'blocked', ['blocked certificate-ends']],
  ])('leaves, if it ends in %d ms, a webhook that must answer %s', (beforeEndMs, state, causes) => {
    const told = diagnosed('validatingwebhookconfiguration', webhook('Fail'), beforeEndMs);
    expect(told.state).toBe(state);
    expect(told.waitsFor.map(({ cause, severity }) => `${severity} ${cause}`)).toEqual(causes);
    for (const { summary } of told.waitsFor) expect(summary).toContain('writes of pods are refused');
  });

  it('is no problem where the webhook may be missed', () => {
    const told = diagnosed('mutatingwebhookconfiguration', webhook('Ignore'), -DAY_MS);
    expect(told.state).toBe('healthy');
    expect(told.waitsFor[0]).toMatchObject({ severity: 'note' });
  });

  it('says nothing where there is none, or none that can be read', () => {
    for (const bundle of ['', Buffer.from('nonsense').toString('base64')])
      expect(diagnosed('validatingwebhookconfiguration', webhook('Fail', bundle), -DAY_MS).waitsFor).toEqual(
        [],
      );
  });

  it('counts for an APIService as well, while its group still answers', () => {
    const fields = { spec: { caBundle }, status: { conditions: [{ type: 'Available', status: 'True' }] } };
    expect(diagnosed('apiservice', fields, DAY_MS)).toMatchObject({
      ...{ state: 'degraded', cause: 'certificate-ends' },
      sentence: expect.stringContaining('caBundle of APIService guard ends at') as string,
    });
  });
});
