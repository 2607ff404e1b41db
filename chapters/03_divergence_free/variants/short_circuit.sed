s/(other.value > mine.value) | ((other.value == mine.value) & (other.id < mine.id))/other.value > mine.value || (other.value == mine.value \&\& other.id < mine.id)/
