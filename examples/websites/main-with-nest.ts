import { NestFactory } from '@nestjs/core';
import { AppModule } from './nest.js';
import { probes } from './place.js';

const app = await NestFactory.create(AppModule);
app.enableShutdownHooks();
await app.listen(probes.port, probes.host);
