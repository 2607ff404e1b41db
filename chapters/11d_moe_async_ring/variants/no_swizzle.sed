s/(piece ^ line % SWAPPED)/piece/
