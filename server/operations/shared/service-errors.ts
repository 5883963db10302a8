// What a failing dependency means to a caller: a database that cannot be asked is one ServiceError,
// never a refusal. Any other error that is no ServiceError is a mistake of ours.

import { ServiceError } from '../../core/plain/errors.ts'
import { databaseAway, isDatabaseAway } from '../../store/connection/db.ts'

/** The error as a caller may see it; the cause stays inside, for the log. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (isDatabaseAway(error)) return databaseAway(error)
  return new ServiceError('internal', 'Something went wrong inside the service.', { cause: error })
}

/** Of one member of a body that conforms and cannot be used all the same: `detail` says why. */
export function unusable(pointer: string, detail: string): ServiceError {
  return new ServiceError('invalid-fields', detail, {
    errors: [{ pointer, code: 'unusable', detail }],
  })
}

export function notFound(): ServiceError {
  return new ServiceError('not-found', 'There is nothing here under this id.')
}
