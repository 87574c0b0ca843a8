import { describe, expect, it } from 'vitest';
import { defineKind } from '../runtime/index.js';
import type { ApiClient, KubernetesObject } from '../runtime/index.js';
import { ApiStatusError } from '../client/api-client/index.js';
import { defineWebhook, spoke } from './define-webhook.js';
import { unconvertedProblem } from './webhook-keeper.js';

const kindOf = (version: string) =>
  defineKind<KubernetesObject>({ group: 'example.com', version, kind: 'Website', namespaced: true });
const converted = defineWebhook(kindOf('v1'), {
  convert: [spoke(kindOf('v1beta1'), { toHub: () => ({}), fromHub: () => ({}) })],
});
const reachedAt = { url: 'https://hooks.example.com' };

async function problemOf(
  answer: object | Error,
  how: 'apply' | 'patch' | 'leave' = 'apply',
  webhooks = [converted],
): Promise<string | undefined> {
  const get = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  const client = { get } as unknown as Pick<ApiClient, 'get'>;
  return unconvertedProblem({ client, webhooks, reachedAt, how });
}

const refusal = (code: number, reason: string) => new ApiStatusError({ code, reason, message: 'no right' });

describe('the conversions of an operator', () => {
  it('are in effect where the definition names a webhook, whoever wrote it', async () => {
    expect(await problemOf({ spec: { conversion: { strategy: 'Webhook' } } })).toBeUndefined();
  });

  it.each([[{ spec: { conversion: { strategy: 'None' } } }], [{ spec: {} }]])(
    'are a problem where the definition has none: %j',
    async (definition) => {
      for (const how of ['apply', 'patch', 'leave'] as const)
        expect(await problemOf(definition, how)).toBe(
          'the definition websites.example.com is not converted by its webhook: spec.conversion.strategy is None, so fields of other versions are lost',
        );
    },
  );

  it('are a problem where the operator has no right to see to them, unless it leaves them to others', async () => {
    const forbidden = refusal(403, 'Forbidden');
    expect(await problemOf(forbidden)).toMatch(/cannot be read: .*rollkeeper generate rbac --webhooks apply/);
    expect(await problemOf(forbidden, 'leave')).toBeUndefined();
  });

  it('are none of a definition that is not installed, or of webhooks that convert nothing', async () => {
    expect(await problemOf(refusal(404, 'NotFound'))).toBeUndefined();
    const other = defineWebhook(kindOf('v1'), { validate: () => undefined });
    expect(await problemOf(new Error('is not asked'), 'apply', [other])).toBeUndefined();
  });

  it('are not judged while the API does not answer', async () => {
    await expect(problemOf(new Error('no answer'))).rejects.toThrow('no answer');
  });
});
