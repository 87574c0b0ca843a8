import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials. @default the credentials are lasting */
  readonly sessionToken?: string;
}

export interface AwsRequest {
  readonly method: string;
  readonly url: string;
  /** In lower case; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * The headers of a request with its signature, version 4.
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signedHeaders(
  request: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { nowMs, region, service }: { readonly nowMs: number; readonly region: string; readonly service: string },
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const date = time.slice(0, 8);
  const headers: Readonly<Record<string, string>> = {
    ...request.headers,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const { host } = new URL(request.url);
  const names = [...Object.keys(headers), 'host'].sort();
  const signed = names.join(';');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonicalRequest(request, { ...headers, host }, names))].join(
    '\n',
  );
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    (sum, part) => hmac(sum, part),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const signature = hmac(key, text).toString('hex');
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** For a URL without a query, whose path needs no further encoding. */
function canonicalRequest(
  { body, method, url }: AwsRequest,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  const lines = names.map((name) => `${name}:${(headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`);
  return [method, new URL(url).pathname, '', lines.join(''), names.join(';'), sha256(body)].join('\n');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
