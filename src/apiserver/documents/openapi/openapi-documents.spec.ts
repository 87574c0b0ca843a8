import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../http/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { OpenApiDocuments } from './openapi-documents.js';

const documents = new OpenApiDocuments(createKindRegistry(), createSchemaRegistry());

function get(url: string) {
  const { pathname: path, searchParams: query } = new URL(url, 'http://x');
  return documents.answer({ method: 'GET', path, query, headers: {} } as unknown as ApiRequest);
}

describe('a document below /openapi/v3', () => {
  it('is somewhere else for those who ask for another hash', async () => {
    const index = (await get('/openapi/v3')) as unknown as {
      body: { paths: Record<string, { serverRelativeURL: string }> };
    };
    const location = index.body.paths['apis/apps/v1']?.serverRelativeURL ?? '';
    expect(await get(location)).toMatchObject({ status: 200 });
    expect(await get('/openapi/v3/apis/apps/v1')).toMatchObject({ status: 200 });
    expect(await get('/openapi/v3/apis/apps/v1?hash=0')).toMatchObject({
      status: 301,
      headers: { location },
    });
  });
});
