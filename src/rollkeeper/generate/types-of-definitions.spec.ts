import { expect, it } from 'vitest';
import { typesOf } from './types-of-definitions.js';

it('writes a kind and an interface for each served version, the stored one under the kind’s own name', () => {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      description: 'A website.',
      required: ['spec'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: {
          type: 'object',
          required: ['host'],
          properties: {
            host: { type: 'string', description: 'Where it is.\nA name.' },
            port: { type: 'integer', default: 80 },
            tier: { type: 'string', enum: ['free', 'paid'] },
            tiers: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
            target: { 'x-kubernetes-int-or-string': true },
            'node-labels': { type: 'object', additionalProperties: { type: 'string' } },
            weight: { type: 'number', nullable: true },
            mirrors: { type: 'array', items: { type: 'object', properties: { host: { type: 'string' } } } },
            extra: { 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    },
  };
  const versions = [
    { name: 'v1', served: true, storage: true, schema },
    { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    { name: 'v1alpha1', served: false, storage: false, schema },
  ];
  const names = { kind: 'Website', plural: 'websites' };
  expect(typesOf([{ spec: { group: 'example.com', scope: 'Cluster', names, versions } }]))
    .toBe(`// Made by \`rollkeeper generate types\`.
import type { KubernetesObject } from 'rollkeeper';
import { defineKind } from 'rollkeeper';

/** A website. */
export interface Website extends KubernetesObject {
  spec: {
    /**
     * Where it is.
     * A name.
     */
    host: string;
    port: number;
    tier?: "free" | "paid";
    tiers?: ("a" | "b")[];
    target?: number | string;
    'node-labels'?: Record<string, string>;
    weight?: number | null;
    mirrors?: {
      host?: string;
    }[];
    extra?: unknown;
  };
}
export const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website', resource: 'websites', namespaced: false });

export interface WebsiteV1beta1 extends KubernetesObject {}
export const WebsiteV1beta1 = defineKind<WebsiteV1beta1>({ group: 'example.com', version: 'v1beta1', kind: 'Website', resource: 'websites', namespaced: false });
`);
});
