import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RawResponse } from '../../http/index.js';
import { statusPage } from './status-pages.js';
import type { StatusFacts } from './status-pages.js';

const FACTS: StatusFacts = {
  startedAtMs: Date.UTC(2026, 0, 1),
  nowMs: Date.UTC(2026, 0, 1) + 3_723_000,
  paths: ['/', '/api/v1', '/apis', '/healthz', '/healthz/ping', '/metrics', '/openid/v1/jwks', '/statusz', '/flagz'],
  flags: { port: '6443', host: '127.0.0.1' },
}; // prettier-ignore

function ask(path: string, accept?: string): { answer: RawResponse; warned: string[] } {
  const warned: string[] = [];
  const headers = accept === undefined ? {} : { accept };
  const answer = statusPage({ path, headers, warn: (text) => void warned.push(text) }, () => FACTS);
  return { answer: answer as RawResponse, warned };
}

describe('/statusz and /flagz', () => {
  it.each([undefined, '', '*/*', 'text/plain', 'text/*', 'application/json;as=Bogus;v=v1beta1;g=config.k8s.io, */*'])(
    'are texts for %s',
    (accept) => {
      const { answer } = ask('/flagz', accept);
      expect(answer.contentType).toBe('text/plain; charset=utf-8');
      expect(answer.raw).toMatch(/^\napiserver flagz\nWarning: .*\nhost=127\.0\.0\.1\nport=6443\n$/);
    },
  ); // prettier-ignore

  it('say how long the server runs, and where one can look further', () => {
    expect(ask('/statusz').answer.raw).toContain('Up: 1 hr 02 min 03 sec\n');
    expect(ask('/statusz').answer.raw).toContain('Paths: /flagz /healthz /metrics\n');
  });

  it.each(['application/json', 'application/yaml'])('are objects of config.k8s.io in %s', (type) => {
    const { answer, warned } = ask('/statusz', `${type};as=Statusz;v=v1beta1;g=config.k8s.io`);
    expect(answer.contentType).toBe(type);
    expect(parse(answer.raw.toString())).toEqual({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'apiserver' },
      startTime: '2026-01-01T00:00:00Z',
      uptimeSeconds: 3723,
      goVersion: 'none',
      binaryVersion: '1.36.2',
      emulationVersion: '1.36',
      paths: ['/flagz', '/healthz', '/metrics'],
    });
    expect(warned).toEqual([]);
  });

  it('warn of the version that will go', () => {
    const { answer, warned } = ask('/flagz', 'application/json;as=Flagz;v=v1alpha1;g=config.k8s.io');
    expect(JSON.parse(answer.raw.toString())).toMatchObject({
      apiVersion: 'config.k8s.io/v1alpha1',
      flags: FACTS.flags,
    });
    expect(warned).toEqual(['This version of the flagz endpoint is deprecated. Please use a newer version.']);
  });

  it.each([
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Flagz;v=v1beta1;g=config.k8s.io',
    'application/json;as=Statusz;v=v1;g=config.k8s.io',
    'text/plain;as=Statusz;v=v1beta1;g=config.k8s.io',
  ])('are refused as %s', (accept) => {
    expect(() => ask('/statusz', accept)).toThrow(
      'only the following media types are accepted: application/json, application/yaml, text/plain',
    );
  });

  it('are at no other path', () => {
    expect(ask('/statusz/').answer).toBeUndefined();
    expect(ask('/constructor').answer).toBeUndefined();
  });
});
