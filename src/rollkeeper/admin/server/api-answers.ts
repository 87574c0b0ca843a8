import { ConflictException, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import { UnsupportedError } from '@rollkeeper/machinery/errors';

/** A refusal of the API keeps its own code, and a request that makes no sense now is a conflict. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UnsupportedError) throw new ConflictException({ error: error.message });
    if (error instanceof ApiStatusError) throw new HttpException({ error: error.message }, error.code);
    throw error;
  }
}

/** Adds a warning to an answer, in the header in which Kubernetes has its own. */
export function warn(response: Pick<Response, 'append'>, text: string): void {
  const plain = text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&');
  response.append('Warning', `299 - "${plain}"`);
}
