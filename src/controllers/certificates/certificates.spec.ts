import { describe, expect, it } from 'vitest';
import type { CertificateSigningRequest } from '../../machinery/kubernetes/index.js';
import { decideRemoval, decideValidity, isApproved } from './decide-request.js';
import type { Asked } from './signers.js';
import { SIGNERS, isKubeletClient } from './signers.js';

const NONE = { details: [], dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
const NODE = { ...NONE, commonName: 'system:node:n1', organizations: ['system:nodes'] };
const CLIENT_USAGES = ['digital signature', 'client auth'];
const SERVER_USAGES = ['digital signature', 'key encipherment', 'server auth'];

describe('a signer', () => {
  it.each<[signer: string, name: string, Asked, problem: string | undefined]>([
    ['kube-apiserver-client', 'people', { request: { ...NODE, organizations: ['dev'] }, usages: CLIENT_USAGES }, undefined],
    ['kube-apiserver-client', 'servers', { request: NODE, usages: SERVER_USAGES }, 'invalid usage for client certificate: server auth'],
    ['kube-apiserver-client', 'what logs nobody in', { request: NODE, usages: ['digital signature'] }, 'missing required usage for client certificate: client auth'],
    ['kube-apiserver-client-kubelet', 'a kubelet', { request: NODE, usages: [...CLIENT_USAGES, 'key encipherment'] }, undefined],
    ['kube-apiserver-client-kubelet', 'people', { request: { ...NODE, organizations: ['dev'] }, usages: CLIENT_USAGES }, 'subject organization is not system:nodes'],
    ['kube-apiserver-client-kubelet', 'a wrong name', { request: { ...NODE, commonName: 'n1' }, usages: CLIENT_USAGES }, 'subject common name does not begin with system:node:'],
    ['kube-apiserver-client-kubelet', 'names beside', { request: { ...NODE, dnsNames: ['n1'] }, usages: CLIENT_USAGES }, 'DNS subjectAltNames are not allowed'],
    ['kube-apiserver-client-kubelet', 'a server', { request: NODE, usages: SERVER_USAGES }, 'usages did not match [client auth digital signature key encipherment]'],
    ['kubelet-serving', 'a kubelet', { request: { ...NODE, ipAddresses: ['10.0.0.1'] }, usages: SERVER_USAGES }, undefined],
    ['kubelet-serving', 'what serves nowhere', { request: NODE, usages: SERVER_USAGES }, 'DNS or IP subjectAltName is required'],
    ['kubelet-serving', 'a client', { request: { ...NODE, dnsNames: ['n1'] }, usages: CLIENT_USAGES }, 'usages did not match [digital signature key encipherment server auth]'],
    ['legacy-unknown', 'anybody', { request: { ...NODE, uris: ['x:y'] }, usages: [] }, undefined],
  ])('kubernetes.io/%s judges %s', (signer, _name, asked, problem) => {
    expect(SIGNERS.get(`kubernetes.io/${signer}`)!(asked)).toBe(problem);
  }); // prettier-ignore

  it('knows a kubelet that asks for itself', () => {
    expect(isKubeletClient({ request: NODE, usages: CLIENT_USAGES })).toBe(true);
    expect(isKubeletClient({ request: NODE, usages: SERVER_USAGES })).toBe(false);
  });
});

const NOW = Date.parse('2026-01-01T00:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a certificate', () => {
  it.each([
    ['a year without a word', undefined, 365 * 24 * HOUR - 5 * MINUTE],
    ['a year at most', 10 * 365 * 24 * 3600, 365 * 24 * HOUR - 5 * MINUTE],
    ['what is asked for', 24 * 3600, 24 * HOUR - 5 * MINUTE],
    ['all of a short time', 3600, HOUR],
    ['ten minutes at least', 60, 10 * MINUTE],
  ])('is good for %s, and dated back', (_name, seconds, life) => {
    expect(decideValidity(seconds, NOW)).toEqual({
      notBeforeMs: NOW - 5 * MINUTE,
      notAfterMs: NOW + life,
    });
  });
});

function aRequest(status: CertificateSigningRequest['status'] = {}): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client' },
    status,
  };
}

function condition(type: string) {
  return { type, status: 'True' as const, lastUpdateTime: '2026-01-01T02:00:00Z' };
}

describe('a signing request', () => {
  it('is approved when it is not denied as well', () => {
    expect(isApproved(aRequest())).toBe(false);
    expect(isApproved(aRequest({ conditions: [condition('Approved')] }))).toBe(true);
    expect(isApproved(aRequest({ conditions: [condition('Approved'), condition('Denied')] }))).toBe(false);
  });

  it.each([
    ['pending for a day', aRequest(), undefined, NOW + 24 * HOUR],
    ['denied an hour ago', aRequest({ conditions: [condition('Denied')] }), undefined, NOW + 3 * HOUR],
    [
      'issued an hour ago',
      aRequest({ conditions: [condition('Approved')], certificate: 'x' }),
      NOW + 9 * HOUR,
      NOW + 3 * HOUR,
    ],
    [
      'out of date',
      aRequest({ conditions: [condition('Approved')], certificate: 'x' }),
      NOW + 2.5 * HOUR,
      NOW + 2.5 * HOUR,
    ],
    ['not signed yet: never', aRequest({ conditions: [condition('Approved')] }), undefined, undefined],
  ])('goes when it is %s', (_name, request, end, removal) => {
    expect(decideRemoval(request, end)).toBe(removal);
  });
});
