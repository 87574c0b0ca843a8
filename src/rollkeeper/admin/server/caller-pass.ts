import { BadRequestException, ServiceUnavailableException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sessionOf, userOf } from './access.middleware.js';
import { bearerOf } from './browser-sessions.js';
import { reviewedPath } from './decide-access.js';

/** The rights with which another replica is asked for a caller. */
export interface CallerPass {
  /** The user's own. @default those of this replica, for callers that see and do everything here */
  readonly credential?: string;
  /** The address of the caller, which the limits of the other replica count. @default that of this replica */
  readonly caller?: string;
}

/**
 * A user of the cluster is passed on by the same credential, so that the other replica asks the cluster about it by itself: never with
 * more rights than this replica has found.
 * @throws ServiceUnavailableException if a user came without one
 */
export function passOf(request: Request, response: Response): CallerPass {
  if (userOf(response) === undefined) return {};
  const credential = sessionOf(response)?.sealed ?? bearerOf(request);
  if (credential === undefined)
    throw new ServiceUnavailableException({ error: 'this replica cannot ask others in your name' });
  const caller = request.socket.remoteAddress;
  return { credential, ...(caller !== undefined && { caller }) };
}

/** The value of the query parameter `scope` by which a replica asks another one for what that one owns, and no more. */
const OF_ONE = 'replica';

/** Whether a request is about this replica alone: then no other one is asked. */
export function isOfOneReplica({ query }: Pick<Request, 'query'>): boolean {
  return query['scope'] === OF_ONE;
}

/**
 * Returns the URL by which another replica is asked for the same page. The request is sent with rights that the caller may not have, so it
 * must not ask for another page. An HTTP client reads `%2e%2e` and `\` in a path as steps to other pages, and the routes of this replica
 * do not.
 * @param url path and query
 * @throws BadRequestException if the path has escapes or relative segments
 */
export function ofOneReplica(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (reviewedPath(path) === undefined)
    throw new BadRequestException({ error: 'the path has something that is not a name' });
  const { pathname, searchParams } = new URL(url, 'http://replica');
  searchParams.set('scope', OF_ONE);
  return `${pathname}?${searchParams.toString()}`;
}
