import { describe, expect, it } from 'vitest';
import { signedHeaders } from './aws-signature.js';

describe('the signature of a request to AWS', () => {
  it('is that of the published test suite', () => {
    const { authorization } = signedHeaders(
      { method: 'GET', url: 'https://example.amazonaws.com/', headers: {}, body: '' },
      { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      { nowMs: Date.UTC(2015, 7, 30, 12, 36), region: 'us-east-1', service: 'service' },
    );
    expect(authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    );
  });
});
