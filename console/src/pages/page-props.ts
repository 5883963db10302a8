// What every page is given.

export interface PageProps {
  /** The values of the path's `:names`. */
  params: Readonly<Record<string, string>>
}
