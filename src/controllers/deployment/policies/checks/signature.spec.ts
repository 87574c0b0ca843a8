import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeKey, fileSigner, signatureOf } from './signature.js';

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('a signature', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'rollkeeper-key-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is that of the Standard Webhooks specification', () => {
    const content = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1614265330, body: '{"test": 2432232314}' };
    expect(signatureOf(decodeKey(KEY), content)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is made with the key that the file has now, over id, time and body', async () => {
    const file = join(folder, 'key');
    const signer = fileSigner(file, () => 1_614_265_330_999);
    await expect(signer.headersOf('a', '{}')).rejects.toThrow('ENOENT');
    writeFileSync(file, `${KEY}\n`);
    const first = await signer.headersOf('a', '{}');
    expect(first).toMatchObject({ 'webhook-id': 'a', 'webhook-timestamp': '1614265330' });
    writeFileSync(file, 'another key of some length');
    expect((await signer.headersOf('a', '{}'))['webhook-signature']).not.toBe(first['webhook-signature']);
    writeFileSync(file, 'short');
    await expect(signer.headersOf('a', '{}')).rejects.toThrow('the fewest are 16');
  });

  it('is left out without a key', async () => {
    expect(await fileSigner(undefined, () => 0).headersOf('a', '')).toEqual({
      'webhook-id': 'a',
      'webhook-timestamp': '0',
    });
  });
});
