import { BadRequestException, Inject, Injectable, ServiceUnavailableException } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { NameTrust } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { personOf, userOf } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { bearerOf } from './browser-sessions.js';

/** The API with the rights of the caller. */
export interface CallerApi {
  readonly client: ApiClient;
  /** The cluster's user. Absent: a holder of the admin token or a local user. Both act as the replica. */
  readonly user?: string;
}

/**
 * The rights of a request in the API: those of its own token where the cluster knows that, those of the user whom an
 * identity provider has signed in, otherwise those of the replica, as for everything else that it does.
 */
@Injectable()
export class CallerClient {
  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  /** @throws ServiceUnavailableException where this replica has no API */
  of(request: Request, response: Response): CallerApi {
    const { client, clientAs } = this.ports;
    const user = userOf(response);
    if (user === undefined) {
      if (!client) throw new ServiceUnavailableException({ error: 'this replica has no API to ask' });
      return { client };
    }
    const person = personOf(response);
    const token = bearerOf(request);
    const who = person ? { user: person } : token === undefined ? undefined : { token };
    if (!clientAs || !who)
      throw new ServiceUnavailableException({ error: 'this replica cannot ask the API in your name' });
    return { client: clientAs(who), user };
  }
}

/**
 * The name that an act carries, and whether it is that of a user of the cluster, or only what a caller without a user
 * claims.
 */
interface Asker {
  readonly name: string;
  readonly trust: NameTrust;
}

/**
 * The name that an act carries.
 * @param named what the body says
 * @throws BadRequestException where no name is given, or another one than that of the token's user
 */
export function whoAsks({ user }: CallerApi, named: string | undefined): Asker {
  if (user !== undefined && named !== undefined && named !== user)
    throw new BadRequestException({
      error: `"by" is yours to leave out: the cluster says that you are ${user}`,
    });
  const who = user ?? named;
  if (who === undefined) throw new BadRequestException({ error: '"by" says who asks' });
  return { name: who, trust: user === undefined ? 'claimed' : 'verified' };
}

/** The user whose rights were too few, if something may not be listed. */
export function readerOf({ user }: CallerApi): { readonly reader?: string } {
  return user === undefined ? { reader: 'This replica' } : {};
}
