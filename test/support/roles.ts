// Two roles of the tests' own server, with a database: one owns the schema and migrates, the other serves.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { testServerUrl } from './database.ts'
import { databaseUrl, onServer } from './test-server.ts'

export interface Roles {
  owner: string
  app: string
  ownerUrl: string
  appUrl: string
  drop(): Promise<void>
}

/** A database that belongs to a role of its own, and a second role that owns nothing. */
export async function makeRoles(): Promise<Roles> {
  const server = await testServerUrl()
  const mark = randomBytes(6).toString('hex')
  const [name, owner, app] = [`test_roles_${mark}`, `owner_${mark}`, `app_${mark}`]
  const password = randomBytes(12).toString('hex')
  await onServer(server, async (client) => {
    const literal = pg.escapeLiteral(password)
    await client.query(`create role ${owner} login password ${literal}`)
    await client.query(`create role ${app} login password ${literal}`)
    await client.query(`grant ${app} to ${owner}`)
    await client.query(`create database ${name} owner ${owner}`)
  })
  const drop = () =>
    onServer(server, async (client) => {
      await client.query(`drop database ${name} with (force)`)
      await client.query(`drop role ${owner}`)
      await client.query(`drop role ${app}`)
    })
  const urlOf = (role: string) => {
    const url = new URL(databaseUrl(server, name))
    url.username = role
    url.password = password
    return url.href
  }
  return { owner, app, ownerUrl: urlOf(owner), appUrl: urlOf(app), drop }
}
